import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { buildService, currentBuild } from './build.ts';

const root = resolve(import.meta.dirname, '..');
// Inside the checkout, since sources are named by their path in it.
mkdirSync(join(root, 'dist'), { recursive: true });
const dir = mkdtempSync(join(root, 'dist/test-'));
afterAll(() => rmSync(dir, { recursive: true }));

it('a build is current until one of its sources changes, or is gone', async () => {
  expect(currentBuild(dir)).toBeUndefined();
  const file = await buildService('gateway', join(dir, 'gateway'));
  const manifest = join(dir, 'gateway', 'sources.json');
  expect(currentBuild(join(dir, 'gateway'))).toBe(file);
  const { sources } = JSON.parse(readFileSync(manifest, 'utf8')) as { sources: string[] };
  expect(sources).toContain('services/gateway/src/main.ts');

  // The same with a source that may be changed while other tests run.
  const own = join(dir, 'own.ts');
  writeFileSync(own, 'export {};\n');
  const build = await buildService('gateway', join(dir, 'gateway'), [own]);
  const { sources: more } = JSON.parse(readFileSync(manifest, 'utf8')) as { sources: string[] };
  expect(more).toContain(relative(root, own));
  expect(currentBuild(join(dir, 'gateway'))).toBe(build);
  appendFileSync(own, '// changed\n');
  expect(currentBuild(join(dir, 'gateway'))).toBeUndefined();
  rmSync(own);
  expect(currentBuild(join(dir, 'gateway'))).toBeUndefined();
});
