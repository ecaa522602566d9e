/** `npm run format`: formats and fixes what Biome can fix by itself. Paths may be given. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const paths = process.argv.slice(2);
const result = spawnSync(
  `${root}/node_modules/.bin/biome`,
  ['check', '--write', ...(paths.length > 0 ? paths : [root])],
  {
    cwd: root,
    stdio: 'inherit',
  },
);
process.exit(result.status ?? 1);
