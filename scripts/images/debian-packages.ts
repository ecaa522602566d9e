import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, ImageError, type Inputs } from './inputs.ts';
import type { Architecture } from './platforms.ts';

/** What the program `node` needs, what TLS and time zones need, and the files by which a scanner knows the system. */
export const debianPackages = [
  'base-files',
  'ca-certificates',
  'gcc-12-base',
  'libc6',
  'libgcc-s1',
  'libstdc++6',
  'netbase',
  'tzdata',
] as const;

/**
 * The pinned packages of an architecture as files, fetched when they are not here yet.
 * @throws ImageError when Debian offers other versions by now, or cannot be reached
 */
export function fetchDebianPackages(inputs: Inputs, architecture: Architecture): string[] {
  const folder = join(cacheFolder, 'debian', architecture);
  const pinned = debianPackages.map((name) => {
    const pin = inputs.debian[architecture][name];
    if (pin === undefined) throw new ImageError(`${name} is not pinned. ${howToPin}`);
    const file = join(folder, `${name}_${pin.version}.deb`.replaceAll(':', '%3a'));
    return { name, ...pin, file };
  });
  const missing = pinned.filter(({ file }) => !existsSync(file));
  if (missing.length > 0) {
    const fetched = openApt(architecture).download(missing);
    mkdirSync(folder, { recursive: true });
    for (const [at, { file }] of missing.entries())
      writeFileSync(file, readFileSync(fetched[at] as string));
  }
  return pinned.map(({ name, version, sha256, file }) => {
    const found = sha256Of(readFileSync(file));
    if (found !== sha256) {
      rmSync(file);
      throw new ImageError(
        `${name} ${version} (${architecture}) is not the file that is pinned: its SHA-256 is ${found}, expected ${sha256}.`,
      );
    }
    return file;
  });
}

/** What Debian offers now. */
export function currentDebianPackages(
  architecture: Architecture,
): Record<string, { version: string; sha256: string }> {
  const apt = openApt(architecture);
  const offered = debianPackages.map((name) => {
    const version = apt.candidate(name);
    if (version === undefined)
      throw new ImageError(`${name} is not in the sources of apt on this machine.`);
    return { name, version };
  });
  const files = apt.download(offered);
  return Object.fromEntries(
    offered.map(({ name, version }, at) => [
      name,
      { version, sha256: sha256Of(readFileSync(files[at] as string)) },
    ]),
  );
}

const howToPin =
  '`npm run images -- --pin` takes what Debian offers now into deploy/images/inputs.json: look at the difference, and commit it.';

interface Apt {
  /** The version that would be installed; undefined when there is none. */
  candidate(name: string): string | undefined;
  /** Returns their files, in the same order: each call of apt reads all of its lists. */
  download(packages: readonly { name: string; version: string }[]): string[];
}

/**
 * apt for one architecture, with a state of its own: the machine's is neither read nor changed, but for its sources and keys.
 * @throws ImageError without apt, or when its sources cannot be reached
 */
function openApt(architecture: Architecture): Apt {
  const folder = join(cacheFolder, 'apt', architecture);
  for (const part of ['state/lists/partial', 'cache/archives/partial', 'packages'])
    mkdirSync(join(folder, part), { recursive: true });
  writeFileSync(join(folder, 'status'), '');
  const own = '/etc/apt/sources.list.d/debian.sources';
  const options = [
    `APT::Architecture=${architecture}`,
    `APT::Architectures=${architecture}`,
    'APT::Sandbox::User=root',
    'Acquire::Languages=none',
    'Acquire::Retries=3',
    `Dir::State=${join(folder, 'state')}`,
    `Dir::State::status=${join(folder, 'status')}`,
    `Dir::Cache=${join(folder, 'cache')}`,
    // Other sources of the machine have nothing to say here.
    ...(existsSync(own) ? [`Dir::Etc::sourcelist=${own}`, 'Dir::Etc::sourceparts=-'] : []),
  ].flatMap((option) => ['-o', option]);
  const apt = (program: string, args: string[]) => {
    const result = spawnSync(program, [...options, ...args], {
      cwd: join(folder, 'packages'),
      encoding: 'utf8',
      timeout: 300_000,
      env: { ...process.env, LC_ALL: 'C' },
    });
    if (result.error !== undefined)
      throw new ImageError(
        `The images are made of Debian's packages, which ${program} fetches: ${result.error.message}. Build them on Debian 12, or in a container of it.`,
      );
    return result;
  };
  const updated = apt('apt-get', ['-qq', 'update']);
  if (updated.status !== 0)
    throw new ImageError(`Debian's package lists could not be fetched.\n${updated.stderr.trim()}`);
  const candidate = (name: string) =>
    /Candidate: (\S+)/.exec(apt('apt-cache', ['policy', name]).stdout)?.[1];
  return {
    candidate,
    download(wanted) {
      const packages = join(folder, 'packages');
      const result = apt('apt-get', [
        '-qq',
        'download',
        ...wanted.map(({ name, version }) => `${name}=${version}`),
      ]);
      const files = readdirSync(packages);
      const found = wanted.map(({ name, version }) =>
        files.find((each) => each.startsWith(`${name}_${version.replaceAll(':', '%3a')}_`)),
      );
      const missing = wanted.filter((_, at) => found[at] === undefined);
      if (missing.length === 0) return found.map((file) => join(packages, file as string));
      // One that is no longer offered keeps apt from fetching the others.
      for (const { name, version } of missing) {
        const offered = candidate(name);
        if (offered !== undefined && offered !== version)
          throw new ImageError(
            `${name} ${version} (${architecture}) is pinned, and Debian offers ${offered} by now. ${howToPin}`,
          );
      }
      const names = missing.map(({ name, version }) => `${name} ${version}`).join(', ');
      throw new ImageError(
        `${names} (${architecture}) could not be fetched.\n${result.stderr.trim()}`,
      );
    },
  };
}

const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
