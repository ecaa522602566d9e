import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

const program = `
  import { readdirSync, readFileSync } from 'node:fs';
  import { getPriority } from 'node:os';
  import { lowerHelperThreads } from ${JSON.stringify(new URL('lower-helper-threads.ts', import.meta.url).href)};
  lowerHelperThreads();
  const threads = readdirSync('/proc/self/task').map((id) => [
    readFileSync('/proc/self/task/' + id + '/comm', 'utf8').trim(),
    getPriority(Number(id)) - (id === String(process.pid) ? 0 : getPriority(process.pid)),
    id === String(process.pid),
  ]);
  console.log(JSON.stringify(threads));
`;

it.runIf(process.platform === 'linux')(
  'lets the helper threads of V8 give way, and no others',
  () => {
    const out = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
    });
    const threads = JSON.parse(out) as [name: string, priority: number, isMain: boolean][];
    const helpers = threads.filter(([name]) => name === 'V8Worker');
    expect(helpers.length).toBeGreaterThan(0);
    expect(helpers.every(([, priority]) => priority > 0)).toBe(true);
    const others = threads.filter(([name, , isMain]) => name !== 'V8Worker' && !isMain);
    expect(others.every(([, priority]) => priority === 0)).toBe(true);
  },
);
