import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { until } from './work.ts';

const registry = '127.0.0.1:5000';

export interface InstalledBundle {
  /** The chart in the bundle. */
  readonly chart: string;
  /** What the Helm line says besides: values and digests. */
  readonly flags: readonly string[];
  /** The images as `install.sh` names them, with their digests in the registry. */
  readonly arrived: readonly string[];
  /** The same by Podman, each under a digest of its own. */
  readonly byPodman: readonly string[];
  stop(): void;
}

/** Unpacks a bundle, verifies it and has its own script take the images into a registry, as docs/deploy/airgap.md says. */
export async function installBundle(
  folder: string,
  archive: string,
  publicKey: string,
): Promise<InstalledBundle> {
  const config = join(folder, 'registry.json');
  const storage = { filesystem: { rootdirectory: join(folder, 'registry') } };
  // JSON is YAML.
  writeFileSync(config, JSON.stringify({ version: 0.1, storage, http: { addr: registry } }));
  const server = spawn('docker-registry', ['serve', config], { stdio: 'ignore' });
  await until('the registry', async () => (await fetch(`http://${registry}/v2/`)).ok || undefined);
  const within = join(folder, 'bundle');
  mkdirSync(within);
  // Podman keeps what it pulls apart from the machine's own.
  const storageFile = join(folder, 'storage.conf');
  const [graphRoot, runRoot] = [join(folder, 'pulled'), join(folder, 'pulled-run')];
  writeFileSync(
    storageFile,
    `[storage]\ndriver = "overlay"\ngraphroot = "${graphRoot}"\nrunroot = "${runRoot}"\n`,
  );
  const env = { ...process.env, CONTAINERS_STORAGE_CONF: storageFile };
  const run = (cwd: string, command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd, env, encoding: 'utf8', timeout: 180_000 });
  run(within, 'tar', '-xf', archive);
  const place = join(within, basename(archive, '.tar'));
  run(place, 'sh', 'verify.sh', '--key', publicKey);
  const install = (at: string, ...more: string[]) => {
    const how = ['--registry', `${registry}/${at}`, '--key', publicKey, '--plain-http', ...more];
    return run(place, 'sh', 'install.sh', ...how)
      .trim()
      .split('\n');
  };
  const byPodman = install('podman', '--tool', 'podman').filter((line) => /@sha256:/.test(line));
  const said = install('mirror');
  const words = said.pop()?.split(' ') ?? [];
  return {
    chart: words.find((word) => word.endsWith('.tgz')) ?? '',
    flags: words.slice(words.indexOf('--values')),
    arrived: said.filter((line) => line.includes('@sha256:')),
    byPodman: await arrivedOf(byPodman),
    stop: () => void server.kill('SIGTERM'),
  };
}

/** Those of the images that the registry has under the digest that was told. */
async function arrivedOf(images: readonly string[]): Promise<string[]> {
  const arrived: string[] = [];
  for (const image of images) {
    const [, name, digest] = /^[^/]+\/(.+)@(sha256:[0-9a-f]+)$/.exec(image) ?? [];
    const url = `http://${registry}/v2/${name}/manifests/${digest}`;
    const accept = 'application/vnd.oci.image.manifest.v1+json';
    if ((await fetch(url, { headers: { accept } })).ok) arrived.push(image);
  }
  return arrived;
}
