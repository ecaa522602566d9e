import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, ImageError } from '../images/inputs.ts';

const packages = [
  ...['postgresql', 'redis-server', 'nats-server', 'busybox', 'curl', 'ca-certificates'],
  ...['systemd', 'systemd-sysv', 'dbus'],
];
const sources = '/etc/apt/sources.list.d/debian.sources';

/**
 * The root file system of a small Debian 12 with stores and systemd, as an archive that is kept; made the first time from the sources
 * of this machine's apt, in a minute or two.
 * @throws ImageError when Debian cannot be reached
 */
export function debianSystem(): string {
  const archive = join(cacheFolder, 'debian-system.tar');
  if (existsSync(archive)) return archive;
  const mirror = existsSync(sources)
    ? /^URIs: *(\S+)/m.exec(readFileSync(sources, 'utf8'))?.[1]
    : undefined;
  if (mirror === undefined) throw new ImageError(`${sources} names no mirror of Debian.`);
  mkdirSync(cacheFolder, { recursive: true });
  const folder = `${archive}.new`;
  rmSync(folder, { recursive: true, force: true });
  const made = spawnSync(
    'debootstrap',
    ['--variant=minbase', `--include=${packages.join()}`, 'bookworm', folder, mirror],
    { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  if (made.status !== 0) throw new ImageError(`debootstrap: ${made.stdout.slice(-2000)}`);
  const packed = spawnSync('tar', [
    ...['-C', folder, '--exclude=./var/cache/apt/archives/*', '--exclude=./var/lib/apt/lists/*'],
    ...['--exclude=./usr/share/doc/*', '--exclude=./usr/share/locale/*'],
    ...['-cf', `${archive}.part`, '.'],
  ]);
  rmSync(folder, { recursive: true, force: true });
  if (packed.status !== 0) throw new ImageError(`tar: ${packed.stderr}`);
  renameSync(`${archive}.part`, archive);
  return archive;
}
