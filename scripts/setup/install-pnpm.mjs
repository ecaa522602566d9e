/**
 * pnpm, by hash and without running anything of it: npm compares what the
 * registry sends with `pnpm/lock.json`, whatever the registry says of itself,
 * and runs no install scripts. A new version: change `pnpm/manifest.json` and run
 * `npm install --package-lock-only --omit-lockfile-registry-resolved` on it.
 *
 * pnpm's program is a package for each platform. Those whose hash is not in the
 * lock are thrown away again: pnpm's own start, which the hash covers, then
 * downloads the program and checks npm's signature of it with keys it brings.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const pinned = fileURLToPath(new URL('pnpm', import.meta.url));

/**
 * Puts pnpm into `<folder>/node_modules`.
 * @param {string} folder
 * @param {(args: string[]) => void} npm  runs npm, and throws when it fails
 * @param {string} from  holds `manifest.json` and `lock.json`
 */
export function installPnpm(folder, npm, from = pinned) {
  // A half-finished install is not repaired but replaced.
  rmSync(join(folder, 'node_modules'), { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(from, 'manifest.json'), join(folder, 'package.json'));
  cpSync(join(from, 'lock.json'), join(folder, 'package-lock.json'));
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  npm(['install', '--prefix', folder, '--ignore-scripts', '--no-save', ...quiet]);
  const { packages } = JSON.parse(readFileSync(join(from, 'lock.json'), 'utf8'));
  const programs = join(folder, 'node_modules/@pnpm');
  for (const name of existsSync(programs) ? readdirSync(programs) : [])
    if (packages[`node_modules/@pnpm/${name}`]?.integrity === undefined)
      rmSync(join(programs, name), { recursive: true, force: true });
}

/** Changes when the pinned version or a hash does. */
export function pinnedPnpm(from = pinned) {
  return readFileSync(join(from, 'lock.json'), 'utf8');
}
