import { spawnSync } from 'node:child_process';
import { ImageError } from './inputs.ts';
import { directory, file, readTar, symlink, type TarEntry } from './tar.ts';

/** Who the services are; the group is that of arbitrary users under OpenShift. */
export const serviceUser = { uid: 65532, gid: 0 } as const;

/** A package as the image's scanners see it. */
export interface DebianRecord {
  name: string;
  version: string;
  architecture: string;
  source: string;
}

/** The lowest layer: C and C++ libraries, certificates, time zones, with the records of their packages. */
export async function baseFiles(
  packages: readonly string[],
): Promise<{ entries: TarEntry[]; records: DebianRecord[] }> {
  const entries: TarEntry[] = [];
  const records: DebianRecord[] = [];
  for (const path of packages) {
    const [control, sums] = await controlFiles(path);
    const record = recordOf(control);
    records.push(record);
    entries.push(...(await readTar(dpkgDeb(['--fsys-tarfile', path]))).filter(isWanted));
    // Where images without dpkg have them, which scanners know.
    entries.push(file(`var/lib/dpkg/status.d/${record.name}`, control));
    if (sums !== undefined)
      entries.push(file(`var/lib/dpkg/status.d/${record.name}.md5sums`, sums));
  }
  entries.push(
    certificates(entries),
    symlink('etc/localtime', '/usr/share/zoneinfo/Etc/UTC'),
    file('etc/passwd', accounts),
    file('etc/group', groups),
    file('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
    directory('tmp', { mode: 0o1777 }),
  );
  return { entries, records };
}

const unwanted =
  /^usr\/share\/(man|lintian|info|gcc|gdb|zoneinfo\/right)(\/|$)|\/gconv(\/|$)|^(usr\/)?s?bin\/.|^etc\/update-motd\.d(\/|$)/;
const unusedLibrary =
  /\/lib(mvec|nsl|nss_compat|nss_hesiod|thread_db|c_malloc_debug|memusage|pcprofile)\.so/;

/**
 * Terms are kept; what is for reading only is not, nor scripts for a shell that is not there, nor what converts character
 * sets, which Node does itself, nor libraries of vectors, NIS and debuggers, which it is not linked with, nor zones with leap seconds.
 */
function isWanted({ path, type }: TarEntry): boolean {
  if (unwanted.test(path) || unusedLibrary.test(path)) return false;
  const isDocument = path.startsWith('usr/share/doc/') && type === 'file';
  return !isDocument || path.endsWith('/copyright');
}

/** What the package's own script would make when it is installed. */
function certificates(entries: readonly TarEntry[]): TarEntry {
  const all = entries
    .filter(({ path }) => /^usr\/share\/ca-certificates\/.+\.crt$/.test(path))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ content }) => `${content?.toString('utf8').trimEnd()}\n`);
  return file('etc/ssl/certs/ca-certificates.crt', all.join(''));
}

const accounts = `root:x:0:0:root:/root:/usr/sbin/nologin
sluice:x:${serviceUser.uid}:${serviceUser.gid}:Sluice:/tmp:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
`;
const groups = `root:x:0:\nsluice:x:${serviceUser.uid}:\nnogroup:x:65534:\n`;

async function controlFiles(path: string): Promise<[control: string, sums: string | undefined]> {
  const files = new Map(
    (await readTar(dpkgDeb(['--ctrl-tarfile', path]))).map((entry) => [entry.path, entry.content]),
  );
  const control = files.get('control');
  if (control === undefined) throw new ImageError(`${path} has no control file.`);
  return [control.toString('utf8'), files.get('md5sums')?.toString('utf8')];
}

function recordOf(control: string): DebianRecord {
  const field = (name: string) => new RegExp(`^${name}: *(.+)$`, 'm').exec(control)?.[1];
  const name = field('Package') ?? '';
  return {
    name,
    version: field('Version') ?? '',
    architecture: field('Architecture') ?? '',
    source: field('Source')?.replace(/ .*/, '') ?? name,
  };
}

function dpkgDeb(args: string[]): Buffer {
  const result = spawnSync('dpkg-deb', args, { maxBuffer: 512 * 1024 * 1024 });
  if (result.error !== undefined)
    throw new ImageError(
      `Debian's packages are read with dpkg-deb: ${result.error.message}. Build images on Debian, or in a container of it.`,
    );
  if (result.status !== 0) throw new ImageError(`dpkg-deb ${args.join(' ')}: ${result.stderr}`);
  return result.stdout;
}
