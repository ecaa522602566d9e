/**
 * `npm run compose`: deploy/compose.yaml as docs/deploy/compose.md says, by a real Docker engine and docker-compose in a network with
 * nothing but themselves: the images of `npm run images` (made when there are none), stores of Debian's packages in place of those that would be pulled. Ends with 1 when
 * something failed. As root on Linux.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './chart/render.ts';
import { debianSystem } from './compose/debian-system.ts';
import { inOwnNetwork, requireTools } from './pods/own-network.ts';

requireTools(
  ['unshare', 'dockerd', 'docker-compose', 'skopeo', 'debootstrap', 'iptables', 'ip'],
  'docker.io docker-compose skopeo debootstrap iptables iproute2 util-linux',
);
if (!existsSync(join(root, 'dist/images/images.json'))) {
  const arch = process.arch === 'x64' ? 'amd64' : 'arm64';
  const made = spawnSync(process.execPath, ['scripts/images.ts', '--arch', arch], {
    cwd: root,
    stdio: 'inherit',
  });
  if (made.status !== 0) process.exit(1);
}
const ended = await inOwnNetwork({
  program: join(root, 'scripts/compose/inside.ts'),
  args: [debianSystem()],
  timeoutMs: 540_000,
});
process.stdout.write(ended ? 'ok\n' : 'FAILED\n');
process.exitCode = ended ? 0 : 1;
