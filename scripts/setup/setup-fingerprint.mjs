/** A hash of everything that decides what set-up does. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export function setupFingerprint(root) {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
  for (const path of inputs(root)) {
    const full = join(root, path);
    if (existsSync(full)) hash.update(`${path}\n`).update(readFileSync(full)).update('\n');
  }
  return hash.digest('hex');
}

function inputs(root) {
  const packages = ['packages', 'services'].flatMap((folder) =>
    entries(root, folder).map((name) => `${folder}/${name}/package.json`),
  );
  const prisma = ['services/control-plane/prisma', 'services/control-plane/prisma/schema'].flatMap(
    (folder) => entries(root, folder).map((name) => `${folder}/${name}`),
  );
  const single = [
    'package.json',
    'pnpm-lock.yaml',
    'pnpm-workspace.yaml',
    'scripts/package.json',
    'scripts/setup.mjs',
    'scripts/setup/install-pnpm.mjs',
    'scripts/setup/pnpm/lock.json',
  ];
  return [...single, ...packages, ...prisma.filter((path) => /\.(prisma|ts)$/.test(path))];
}

function entries(root, folder) {
  const path = join(root, folder);
  return existsSync(path) ? readdirSync(path).sort() : [];
}
