import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/**
 * Programs, and the packages that they come in. Two are no servers: `faketime` sets the clock of those, `bwrap` runs an image
 * without an engine.
 */
const programs = {
  'redis-server': 'redis-server',
  'nats-server': 'nats-server',
  pgbouncer: 'pgbouncer',
  faketime: 'faketime',
  bwrap: 'bubblewrap',
} as const;

export type DebianServer = keyof typeof programs;

/** Installs what is missing; tests against these servers are never skipped. */
export function installDebianServers(): void {
  const missing = (Object.keys(programs) as DebianServer[]).filter(
    (name) => findProgram(name) === undefined,
  );
  if (missing.length === 0) return;
  const canInstall = process.getuid?.() === 0 && findOnPath('apt-get') !== undefined;
  if (!canInstall)
    throw new Error(
      `The tests need ${missing.join(' and ')}. Install them, for example: sudo apt-get install ${missing.map((name) => programs[name]).join(' ')}`,
    );
  aptGet(['update', '-qq']);
  aptGet([
    'install',
    '-y',
    '-qq',
    '--no-install-recommends',
    ...missing.map((name) => programs[name]),
  ]);
  // The packages start services of their own, on the default ports; the tests spawn theirs.
  for (const name of missing)
    spawnSync('service', [name, 'stop'], { stdio: 'ignore', timeout: 30_000 });
}

/** The program's path. @throws Error when it is not installed. */
export function debianServer(name: DebianServer): string {
  const path = findProgram(name);
  if (path === undefined) installDebianServers();
  return path ?? (findProgram(name) as string);
}

function findProgram(name: DebianServer): string | undefined {
  return findOnPath(name);
}

function findOnPath(program: string): string | undefined {
  const folders = [
    ...(process.env.PATH ?? '').split(':'),
    '/usr/sbin',
    '/usr/local/sbin',
    '/usr/bin',
    '/usr/local/bin',
  ];
  return folders.map((folder) => join(folder, program)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function aptGet(args: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const result = spawnSync('apt-get', args, { env, encoding: 'utf8', timeout: 300_000 });
  if (result.status !== 0)
    throw new Error(`apt-get ${args.join(' ')} failed:\n${result.stderr}\n${result.stdout}`);
}
