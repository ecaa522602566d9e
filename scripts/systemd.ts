/**
 * `npm run systemd`: the units of deploy/systemd as docs/deploy/systemd.md says, on a Debian 12 of their own that systemd-nspawn boots, in a network
 * with nothing but itself, before real stores. Ends with 1 when something failed. As root on Linux.
 */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build, buildables } from './build.ts';
import { root } from './chart/render.ts';
import { debianSystem } from './compose/debian-system.ts';
import { readInputs } from './images/inputs.ts';
import { fetchNode } from './images/node-program.ts';
import { type Architecture, ownArchitecture } from './images/platforms.ts';
import { inOwnNetwork, requireTools } from './pods/own-network.ts';

requireTools(
  ['unshare', 'systemd-nspawn', 'nsenter', 'debootstrap', 'ip'],
  'systemd-container debootstrap iproute2 util-linux redis-server nats-server',
);
const work = mkdtempSync(join(tmpdir(), 'sluice-systemd-'));
try {
  // What the page says to put into /usr/lib/sluice.
  const release = join(work, 'sluice');
  mkdirSync(join(release, 'bin'), { recursive: true });
  const { program } = await fetchNode(readInputs(), ownArchitecture() as Architecture);
  writeFileSync(join(release, 'bin/node'), program);
  chmodSync(join(release, 'bin/node'), 0o755);
  for (const name of buildables) {
    const { file } = await build(name, join(work, 'dist', name));
    cpSync(dirname(file), join(release, name), { recursive: true });
  }
  const ended = await inOwnNetwork({
    program: join(root, 'scripts/systemd/inside.ts'),
    args: [debianSystem(), release],
    timeoutMs: 400_000,
  });
  process.stdout.write(ended ? 'ok\n' : 'FAILED\n');
  process.exitCode = ended ? 0 : 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
