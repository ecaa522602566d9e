/**
 * `npm run generate`: rewrites docs/providers.md from the catalogue of providers,
 * and packages/proto-stubs/src/gen from proto/. Run it after a change there and
 * commit the result.
 */
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { providerPage } from './docs/provider-table.ts';

const root = resolve(import.meta.dirname, '..');
const bin = `${root}/node_modules/.bin`;
const options = {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
} as const;

writeFileSync(`${root}/docs/providers.md`, providerPage());

const lint = spawnSync(`${bin}/buf`, ['lint'], options);
if (lint.status !== 0) process.exit(lint.status ?? 1);
rmSync(`${root}/packages/proto-stubs/src/gen`, { recursive: true, force: true });
const generated = spawnSync(`${bin}/buf`, ['generate'], options);
process.exit(generated.status ?? 1);
