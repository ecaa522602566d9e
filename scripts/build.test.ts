import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { createDatabase, startPostgres } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Built, build, buildService, currentBuild } from './build.ts';

const root = resolve(import.meta.dirname, '..');
// Inside the checkout, since sources are named by their path in it.
mkdirSync(join(root, 'dist'), { recursive: true });
const dir = mkdtempSync(join(root, 'dist/test-'));
const away = mkdtempSync(join(tmpdir(), 'sluice-build-'));
const folder = join(dir, 'migrations');
let built: Built;
beforeAll(async () => {
  built = await build('migrations', folder);
});
afterAll(() => {
  for (const each of [dir, away]) rmSync(each, { recursive: true });
});

it('a build is current until one of its sources changes, or is gone', async () => {
  expect(currentBuild(dir)).toBeUndefined();
  expect(currentBuild(folder)).toBe(built.file);
  const manifest = `${folder}.sources.json`;
  const { sources } = JSON.parse(readFileSync(manifest, 'utf8')) as { sources: string[] };
  expect(sources).toContain('scripts/migrate.ts');
  // A file more is a change too.
  expect(sources).toContain('services/data-service/schema/');

  // The same with a source that may be changed while other tests run.
  const own = join(dir, 'own.ts');
  writeFileSync(own, 'export {};\n');
  const file = await buildService('migrations', folder, [own]);
  const { sources: more } = JSON.parse(readFileSync(manifest, 'utf8')) as { sources: string[] };
  expect(more).toContain(relative(root, own));
  expect(currentBuild(folder)).toBe(file);
  appendFileSync(own, '// changed\n');
  expect(currentBuild(folder)).toBeUndefined();
  rmSync(own);
  expect(currentBuild(folder)).toBeUndefined();
});

it('what is built works wherever it is put, and says nothing of this machine', async () => {
  const moved = join(away, 'app');
  cpSync(folder, moved, { recursive: true });
  expect(listFiles(moved)).toEqual(built.files);
  const postgres = await startPostgres();
  const env = { DATABASE_URL: await createDatabase(postgres.url) };
  try {
    const out = execFileSync(process.execPath, [join(moved, 'main.mjs')], { env, cwd: away });
    expect(out.toString()).toMatch(/^Postgres: applied 20250101000000_initial\n/);
  } finally {
    await postgres.stop();
  }
  for (const file of built.files)
    expect(readFileSync(join(moved, file), 'utf8').includes(root), file).toBe(false);
});

it('is ASCII, of which Node holds a byte each and not two', () => {
  const code = readFileSync(built.file);
  expect(code.findIndex((byte) => byte > 0x7f)).toBe(-1);
  // There is something that was written otherwise.
  expect(code.toString()).toMatch(/\\u[\da-f]{4}/);
});

it('has the terms of the packages that are in it, and of no others', () => {
  const names = built.packages.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['@clickhouse/client', 'pg', 'zod']));
  for (const absent of ['chdb', 'express', 'prisma', 'vitest']) expect(names).not.toContain(absent);
  const terms = readFileSync(join(folder, 'LICENCES.txt'), 'utf8');
  for (const { name, version } of built.packages) expect(terms).toContain(`\n${name} ${version}\n`);
});

function listFiles(below: string): string[] {
  return readdirSync(below, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(below, join(entry.parentPath, entry.name)))
    .sort();
}
