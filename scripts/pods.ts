/**
 * `npm run pods`: the chart's pods from the images of `npm run images` (made when there are none) under Podman,
 * as the air-gap profile has them, in a network with nothing but itself, before real stores: migrations and first
 * keys, a chat, a stream, both kinds of policies, analytics. Ends with 1 when something failed, when a container
 * may more than the chart says, or when anything was sent elsewhere. As root on Linux with podman, runc and nft.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { helm } from './chart/helm.ts';
import { root } from './chart/render.ts';
import { inOwnNetwork, requirePodman } from './pods/own-network.ts';

requirePodman();
if (!existsSync(join(root, 'dist/images/images.json'))) {
  const arch = process.arch === 'x64' ? 'amd64' : 'arm64';
  const made = spawnSync(process.execPath, ['scripts/images.ts', '--arch', arch], {
    cwd: root,
    stdio: 'inherit',
  });
  if (made.status !== 0) process.exit(1);
}
// It may have to be unpacked or fetched, which nobody can within.
helm();

const ended = await inOwnNetwork({
  program: join(root, 'scripts/pods/inside.ts'),
  names: ['gateway', 'control-plane', 'data-service'].map((name) => `sluice-${name}.ai.svc`),
  timeoutMs: 540_000,
});
process.stdout.write(ended ? 'ok\n' : 'FAILED\n');
process.exitCode = ended ? 0 : 1;
