import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Descriptor } from './oci-layout.ts';
import type { Architecture } from './platforms.ts';

/** What a container runtime reads of an image. */
export interface UnpackedImage {
  readonly rootfs: string;
  readonly env: Record<string, string>;
  readonly entrypoint: readonly string[];
  readonly workingDir: string;
}

/** Unpacks the image of one architecture out of a layout, as a runtime does: layer upon layer. */
export function unpackImage(
  layout: string,
  architecture: Architecture,
  rootfs: string,
): UnpackedImage {
  const blob = ({ digest }: Descriptor) =>
    readFileSync(join(layout, 'blobs', digest.replace(':', '/')));
  const json = <T>(bytes: Buffer): T => JSON.parse(bytes.toString('utf8')) as T;
  type Manifests = { manifests: Descriptor[] };
  const [image] = json<Manifests>(readFileSync(join(layout, 'index.json'))).manifests;
  const platform = json<Manifests>(blob(image as Descriptor)).manifests.find(
    (each) => each.platform?.architecture === architecture,
  );
  if (platform === undefined) throw new Error(`The image is not made for ${architecture}.`);
  const manifest = json<{ config: Descriptor; layers: Descriptor[] }>(blob(platform));
  mkdirSync(rootfs, { recursive: true });
  for (const layer of manifest.layers) {
    const { status, stderr } = spawnSync('tar', ['-x', '-p', '-C', rootfs, '-f', '-'], {
      input: gunzipSync(blob(layer)),
    });
    if (status !== 0) throw new Error(`tar: ${stderr}`);
  }
  const { config } = json<{ config: { Env: string[]; Entrypoint: string[]; WorkingDir: string } }>(
    blob(manifest.config),
  );
  return {
    rootfs,
    env: Object.fromEntries(
      config.Env.map((line) => [
        line.slice(0, line.indexOf('=')),
        line.slice(line.indexOf('=') + 1),
      ]),
    ),
    entrypoint: config.Entrypoint,
    workingDir: config.WorkingDir,
  };
}

export interface Confinement {
  /** A folder that is its `/data`. */
  data?: string;
  env?: Record<string, string | undefined>;
  /** Instead of the entrypoint. */
  command?: readonly string[];
  args?: readonly string[];
  /** More arguments of bubblewrap. */
  binds?: readonly string[];
  /** A user that the image has never heard of, as OpenShift gives one. */
  uid?: number;
}

/**
 * The command line of bubblewrap that runs it: read-only but for `/tmp` and `/data`, no capabilities, no other processes, the
 * network of this machine.
 */
export function confined(image: UnpackedImage, how: Confinement): string[] {
  const env = Object.entries({ ...image.env, ...how.env });
  return [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent'],
    // As in a container, where it is the first.
    '--as-pid-1',
    ...['--uid', String(how.uid ?? 12345), '--gid', '0', '--cap-drop', 'ALL'],
    ...['--ro-bind', image.rootfs, '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    ...(how.data === undefined ? [] : ['--bind', how.data, '/data']),
    ...(how.binds ?? []),
    '--clearenv',
    ...env.flatMap(([name, value]) => (value === undefined ? [] : ['--setenv', name, value])),
    ...['--chdir', image.workingDir, '--'],
    ...(how.command ?? image.entrypoint),
    ...(how.args ?? []),
  ];
}
