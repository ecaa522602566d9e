/**
 * Generates the Prisma client into `src/generated/prisma` when the schema has
 * changed since the last time. Runs after every install, so it must be
 * quick when there is nothing to do, and must never reach for the network: the
 * generator needs no engine binary, so a program that exists stands in for one.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const generated = join(root, 'src', 'generated', 'prisma');
const stampPath = join(generated, '.schema-hash');
const manifestPath = createRequire(import.meta.url).resolve('prisma/package.json');
const manifest = JSON.parse(readFileSync(manifestPath, 'utf8')) as { version: string };
const stamp = createHash('sha256')
  .update(schemaText(join(root, 'prisma', 'schema')))
  .update(manifest.version)
  .digest('hex');

if (!existsSync(stampPath) || readFileSync(stampPath, 'utf8') !== stamp) {
  rmSync(generated, { recursive: true, force: true });
  const cli = join(dirname(manifestPath), 'build', 'index.js');
  const result = spawnSync(process.execPath, [cli, 'generate', '--no-hints'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      CHECKPOINT_DISABLE: '1',
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
    },
  });
  if (result.status !== 0) {
    process.stderr.write(result.stdout);
    process.exit(result.status ?? 1);
  }
  writeFileSync(stampPath, stamp);
}

function schemaText(folder: string): string {
  const files = readdirSync(folder).sort();
  return files.map((name) => `${name}\n${readFileSync(join(folder, name), 'utf8')}`).join('');
}
