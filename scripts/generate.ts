/**
 * `npm run generate`: rewrites packages/proto-stubs/src/gen from proto/, and
 * the files listed in generate/generated-files.ts from their sources. Run it
 * after a change there and commit the result.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const bin = `${root}/node_modules/.bin`;
const options = {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
} as const;

const lint = spawnSync(`${bin}/buf`, ['lint'], options);
if (lint.status !== 0) process.exit(lint.status ?? 1);
rmSync(`${root}/packages/proto-stubs/src/gen`, { recursive: true, force: true });
const generated = spawnSync(`${bin}/buf`, ['generate'], options);
if (generated.status !== 0) process.exit(generated.status ?? 1);

// Loaded late: some read the stubs that were just made.
const { generatedFiles } = await import('./generate/generated-files.ts');
for (const [path, text] of Object.entries(generatedFiles)) {
  mkdirSync(dirname(`${root}/${path}`), { recursive: true });
  writeFileSync(`${root}/${path}`, text());
}
