import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const modules = join(import.meta.dirname, '..');

it('strings are as fast as before once the gateway is loaded', () => {
  const program = `
    const isFast = () => %HasFastProperties(String.prototype);
    const before = isFast();
    await import(${JSON.stringify(join(modules, 'wiring.ts'))});
    const { keepStringsFast } = await import(${JSON.stringify(join(modules, 'redis/keep-strings-fast.ts'))});
    const loaded = isFast();
    keepStringsFast();
    console.log(JSON.stringify({ before, loaded, after: isFast() }));
  `;
  const args = ['--allow-natives-syntax', '--input-type=module', '--eval', program];
  const said = execFileSync(process.execPath, args, { encoding: 'utf8' });
  // Where loading no longer slows them, nothing needs to be undone: then both go.
  expect(JSON.parse(said)).toEqual({ before: true, loaded: false, after: true });
});
