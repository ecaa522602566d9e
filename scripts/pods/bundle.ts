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
  const run = (cwd: string, command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd, encoding: 'utf8', timeout: 180_000 });
  run(within, 'tar', '-xf', archive);
  const place = join(within, basename(archive, '.tar'));
  run(place, 'sh', 'verify.sh', '--key', publicKey);
  const how = ['--registry', `${registry}/mirror`, '--key', publicKey, '--plain-http'];
  const said = run(place, 'sh', 'install.sh', ...how)
    .trim()
    .split('\n');
  const words = said.pop()?.split(' ') ?? [];
  return {
    chart: words.find((word) => word.endsWith('.tgz')) ?? '',
    flags: words.slice(words.indexOf('--values')),
    arrived: said.filter((line) => line.includes('@sha256:')),
    stop: () => void server.kill('SIGTERM'),
  };
}
