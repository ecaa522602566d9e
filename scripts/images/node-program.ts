import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { cacheFolder, ImageError, type Inputs, root } from './inputs.ts';
import { type Architecture, architectures, platforms } from './platforms.ts';
import { readTar } from './tar.ts';

export interface NodeProgram {
  readonly version: string;
  readonly program: Buffer;
  /** Its own terms, and those of all that is compiled in. */
  readonly licence: Buffer;
}

/**
 * The pinned Node of an architecture, fetched when it is not here yet.
 * @throws ImageError when npm cannot be reached or gives other bytes
 */
export async function fetchNode(inputs: Inputs, architecture: Architecture): Promise<NodeProgram> {
  const { version } = inputs.node;
  const pin = inputs.node.packages[architecture];
  const folder = join(cacheFolder, 'node', `${version}-${architecture}`);
  if (!existsSync(join(folder, 'node'))) {
    const tarball = npmPack(`node-linux-${platforms[architecture].npm}@${version}`);
    const integrity = integrityOf(tarball);
    if (integrity !== pin.integrity)
      throw new ImageError(
        `node-linux-${platforms[architecture].npm} ${version} is not the package that is pinned: its integrity is ${integrity}.`,
      );
    const { program, licence } = await unpack(tarball);
    const fresh = `${folder}.${process.pid}`;
    mkdirSync(fresh, { recursive: true });
    writeFileSync(join(fresh, 'node'), program);
    writeFileSync(join(fresh, 'LICENSE'), licence);
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
  }
  const program = readFileSync(join(folder, 'node'));
  if (sha256Of(program) !== pin.sha256) {
    rmSync(folder, { recursive: true });
    throw new ImageError(`Node ${version} (${architecture}) is not the program that is pinned.`);
  }
  return { version, program, licence: readFileSync(join(folder, 'LICENSE')) };
}

/** Of the version that the checkout runs. */
export async function currentNode(): Promise<Inputs['node']> {
  const version = checkoutNodeVersion();
  const packages = {} as Inputs['node']['packages'];
  for (const each of architectures) {
    const tarball = npmPack(`node-linux-${platforms[each].npm}@${version}`);
    const { program } = await unpack(tarball);
    packages[each] = { integrity: integrityOf(tarball), sha256: sha256Of(program) };
  }
  return { version, packages };
}

/** What `package.json` pins: images run what was tested. */
export function checkoutNodeVersion(): string {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    devDependencies: { node: string };
  };
  return manifest.devDependencies.node;
}

function npmPack(name: string): Buffer {
  const folder = join(cacheFolder, 'npm');
  mkdirSync(folder, { recursive: true });
  const result = spawnSync('npm', ['pack', name, '--json', '--silent'], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 300_000,
  });
  const file = /"filename": "([^"]+)"/.exec(result.stdout ?? '')?.[1];
  if (result.status !== 0 || file === undefined)
    throw new ImageError(
      `npm could not fetch ${name}.\n${(result.error?.message ?? result.stderr).trim()}`,
    );
  const path = join(folder, file);
  const bytes = readFileSync(path);
  rmSync(path);
  return bytes;
}

async function unpack(tarball: Buffer): Promise<{ program: Buffer; licence: Buffer }> {
  const files = new Map(
    (await readTar(gunzipSync(tarball))).map(({ path, content }) => [path, content]),
  );
  const [program, licence] = ['package/bin/node', 'package/LICENSE'].map((path) => files.get(path));
  if (program === undefined || licence === undefined)
    throw new ImageError('The package of Node has no program or no licence.');
  return { program, licence };
}

const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const integrityOf = (bytes: Buffer) =>
  `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
