import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Who runs Postgres, and how a command line becomes that user. */
export interface PostgresUser {
  /** `undefined` when our own user does. */
  ids: { uid: number; gid: number } | undefined;
  /** The command and arguments to spawn in place of the given ones. */
  command(
    file: string,
    args: readonly string[],
  ): { file: string; args: string[]; uid?: number; gid?: number };
}

const capDacOverride = 1n << 1n;
const capDacReadSearch = 1n << 2n;

/**
 * Postgres refuses to run as root. As root we lend it another user: the owner
 * of an existing data directory, else `postgres`, else `nobody`. Where that user
 * may not even enter the folders above (a checkout in /root), `setpriv` lets
 * the process pass them with one capability, instead of opening them to everybody.
 */
export function postgresUser(dataDir: string, binary: string): PostgresUser {
  if (process.getuid?.() !== 0)
    return { ids: undefined, command: (file, args) => ({ file, args: [...args] }) };
  const ids = ownerOf(dataDir) ?? accountIds('postgres') ?? accountIds('nobody');
  if (ids === undefined)
    throw new Error(
      'Postgres cannot run as root, and there is no user "postgres" or "nobody" to run it as.',
    );
  if (isOpenToAll(dirname(dataDir)) && isOpenToAll(dirname(binary)))
    return {
      ids,
      command: (file, args) => ({ file, args: [...args], uid: ids.uid, gid: ids.gid }),
    };
  const capability = lendableCapability();
  const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path));
  if (capability === undefined || setpriv === undefined)
    throw new Error(
      `Postgres cannot run as root, and its user may not enter ${dirname(dataDir)}. Run as another user, or move the checkout to a folder that all may enter.`,
    );
  const prefix = [
    `--reuid=${ids.uid}`,
    `--regid=${ids.gid}`,
    '--clear-groups',
    `--inh-caps=-all,+${capability}`,
    `--ambient-caps=-all,+${capability}`,
    // Without this bit access(2), with which initdb looks for its programs, ignores the capability.
    '--securebits=+no_setuid_fixup',
  ];
  return { ids, command: (file, args) => ({ file: setpriv, args: [...prefix, file, ...args] }) };
}

function ownerOf(dataDir: string): { uid: number; gid: number } | undefined {
  const stat = statSync(dataDir, { throwIfNoEntry: false });
  return stat === undefined || stat.uid === 0 ? undefined : { uid: stat.uid, gid: stat.gid };
}

function accountIds(name: string): { uid: number; gid: number } | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined || gid === undefined
    ? undefined
    : { uid: Number(uid), gid: Number(gid) };
}

/** Whether users other than the owner may enter the folder and all above it. */
function isOpenToAll(folder: string): boolean {
  for (let path = folder; ; path = dirname(path)) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat !== undefined && (stat.mode & 0o001) === 0) return false;
    if (path === dirname(path)) return true;
  }
}

function lendableCapability(): string | undefined {
  const bounding = /^CapBnd:\s*([0-9a-f]+)$/m.exec(readStatus())?.[1];
  if (bounding === undefined) return undefined;
  const held = BigInt(`0x${bounding}`);
  if ((held & capDacReadSearch) !== 0n) return 'dac_read_search';
  return (held & capDacOverride) !== 0n ? 'dac_override' : undefined;
}

function readStatus(): string {
  try {
    accessSync('/proc/self/status', constants.R_OK);
    return readFileSync('/proc/self/status', 'utf8');
  } catch {
    // Not Linux: there are no capabilities to lend.
    return '';
  }
}
