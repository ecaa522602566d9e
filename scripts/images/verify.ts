import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Buildable } from '../build.ts';
import { cacheFolder, ImageError, root } from './inputs.ts';
import type { ImageList } from './make-images.ts';
import { verifyLayout } from './oci-layout.ts';
import { type Architecture, architectures, ownArchitecture } from './platforms.ts';
import { confined, unpackImage } from './run-image.ts';

/**
 * `npm run images -- --verify`, some ten minutes: makes all images in two clones of the commit, compares every byte that is
 * told of them, reads every layout back, and starts each image on the architectures that run here: this machine's, and
 * others' with qemu-user.
 * @throws ImageError naming what is not as it should be
 */
export function verifyImages(say: (line: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-images-'));
  try {
    const [one, two] = ['one', 'two'].map((name) => makeInClone(join(folder, name), say));
    if (one === undefined || two === undefined) return;
    for (const file of listFiles(one))
      if (!readFileSync(join(one, file)).equals(readFileSync(join(two, file))))
        throw new ImageError(`${file} is not the same in two clones.`);
    say('two clones: the same bytes');
    const { images } = JSON.parse(readFileSync(join(one, 'images.json'), 'utf8')) as ImageList;
    for (const { service, platforms } of images) {
      const { manifests } = verifyLayout(join(one, service));
      const told = platforms.map(({ digest }) => digest).join();
      if (manifests.map(({ digest }) => digest).join() !== told)
        throw new ImageError(`${service}: images.json names other digests than the layout.`);
      for (const architecture of architectures) {
        const rootfs = join(folder, `${service}-${architecture}`);
        say(`${service} ${architecture}: ${start(one, service, architecture, rootfs)}`);
        rmSync(rootfs, { recursive: true, force: true });
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns where they are. */
function makeInClone(clone: string, say: (line: string) => void): string {
  run('git', ['clone', '-q', '--no-hardlinks', root, clone]);
  // What was downloaded is checked against its pin again; layers are packed anew.
  for (const part of ['debian', 'node'])
    if (existsSync(join(cacheFolder, part)))
      cpSync(join(cacheFolder, part), join(clone, '.toolchain/images', part), { recursive: true });
  run('npm', ['run', '-s', 'images'], clone);
  say(`made in ${clone}`);
  return join(clone, 'dist/images');
}

const compared = /^(images\.json|.*\.(oci\.tar|cdx\.json|spdx\.json))$/;

function listFiles(folder: string): string[] {
  const { stdout } = run('ls', [folder]);
  const files = stdout.split('\n').filter((name) => compared.test(name));
  if (files.length === 0) throw new ImageError(`${folder} has no images.`);
  return files;
}

/** What came of starting it with no settings at all: each says what it lacks. */
function start(
  out: string,
  service: Buildable,
  architecture: Architecture,
  rootfs: string,
): string {
  const emulator = architecture === 'arm64' ? 'qemu-aarch64-static' : 'qemu-x86_64-static';
  const isOwn = architecture === ownArchitecture();
  const emulatorPath = join('/usr/bin', emulator);
  if (!isOwn && !existsSync(emulatorPath)) return `not started, there is no ${emulator} here`;
  const image = unpackImage(join(out, service), architecture, rootfs);
  const [node = '', ...flags] = image.entrypoint;
  const command = isOwn ? undefined : ['/tmp/qemu', node, ...flags];
  const binds = isOwn ? [] : ['--ro-bind', emulatorPath, '/tmp/qemu'];
  mkdirSync(join(rootfs, 'data'), { recursive: true });
  const result = spawnSync('bwrap', confined(image, { command, binds }), {
    encoding: 'utf8',
    timeout: 120_000,
  });
  const said = `${result.stdout}${result.stderr}`;
  const isAsExpected =
    service === 'migrations'
      ? result.status === 2 && said.startsWith('Usage: ')
      : result.status === 1 && said.includes('the settings are not valid');
  if (!isAsExpected)
    throw new ImageError(
      `${service} for ${architecture} ended with ${result.status}: ${result.error?.message ?? said.slice(0, 2000)}`,
    );
  return 'starts, and says which settings it lacks';
}

function run(command: string, args: string[], cwd?: string) {
  const result = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (result.status !== 0)
    throw new ImageError(`${command} ${args.join(' ')}: ${result.error?.message ?? result.stderr}`);
  return result;
}
