/**
 * `npm run pods`: the chart's pods from the images of `npm run images` (made when there are none) under Podman,
 * as the air-gap profile has them, in a network with nothing but itself, before real stores: migrations and first
 * keys, a chat, a stream, both kinds of policies, analytics. Ends with 1 when something failed, when a container
 * may more than the chart says, or when anything was sent elsewhere. As root on Linux with podman, runc and nft.
 * `npm run pods -- --policies`: each pod in a network of its own, behind rules of nft made from the chart's NetworkPolicies.
 * `npm run pods -- --bundle`: from a bundle made of them, by its own scripts through a registry, with its chart and its Helm line.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { helm } from './chart/helm.ts';
import { root } from './chart/render.ts';
import { inOwnNetwork, requirePodman, requireTools } from './pods/own-network.ts';

const { values: flags } = parseArgs({
  options: { bundle: { type: 'boolean' }, policies: { type: 'boolean' } },
});
requirePodman();
if (flags.bundle === true)
  requireTools(['docker-registry', 'skopeo', 'openssl'], 'docker-registry skopeo openssl');
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

const bundleFolder = mkdtempSync(join(tmpdir(), 'sluice-bundle-'));
const args = flags.bundle === true ? makeBundle() : [];
const services = ['gateway', 'control-plane', 'data-service'];
const ended = await inOwnNetwork({
  program: join(root, `scripts/pods/${flags.policies === true ? 'inside-policies' : 'inside'}.ts`),
  args,
  names: flags.policies === true ? [] : services.map((name) => `sluice-${name}.ai.svc`),
  timeoutMs: 540_000,
});
rmSync(bundleFolder, { recursive: true });
process.stdout.write(ended ? 'ok\n' : 'FAILED\n');
process.exitCode = ended ? 0 : 1;

/** Returns the archive, and the key that verifies it. */
function makeBundle(): string[] {
  const run = (...more: string[]) =>
    execFileSync(process.execPath, ['scripts/bundle.ts', ...more], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, INIT_CWD: root },
    });
  run('--new-key', bundleFolder);
  const said = run('--key', join(bundleFolder, 'sluice.key'), '--out', bundleFolder);
  return [said.trim().split('\n').at(-1) as string, join(bundleFolder, 'sluice.pub')];
}
