import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { nameServer } from './attempts.ts';

/** Ends the process with 2 and a sentence when it is not root's, or a program is missing here. */
export function requireTools(tools: readonly string[], packages: string): void {
  const missing = tools.filter(
    (tool) => spawnSync('sh', ['-c', 'command -v "$1"', 'sh', tool]).status !== 0,
  );
  if (missing.length === 0 && process.getuid?.() === 0) return;
  process.stderr.write(
    `This takes root on Linux, and ${missing.join(', ') || 'its tools'}: apt-get install ${packages}\n`,
  );
  process.exit(2);
}

export function requirePodman(): void {
  requireTools(
    ['unshare', 'podman', 'runc', 'nft', 'ip', 'catatonit'],
    'podman runc catatonit nftables iproute2 util-linux redis-server nats-server',
  );
}

export interface OwnNetwork {
  /** Run there with a folder as its first argument, which is removed afterwards. */
  readonly program: string;
  readonly args?: readonly string[];
  /** That lead to loopback. */
  readonly names?: readonly string[];
  readonly timeoutMs: number;
}

/**
 * Runs a program of ours as root in a network with nothing but loopback, whose default route leads back into it, with its own
 * processes, mounts, and states of Podman. Resolves with whether it ended with 0.
 */
export async function inOwnNetwork(what: OwnNetwork): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-pods-'));
  try {
    // Postgres runs as another user.
    await chmod(folder, 0o711);
    await writeFile(join(folder, 'resolv.conf'), `nameserver ${nameServer}\n`);
    await writeFile(
      join(folder, 'hosts'),
      `127.0.0.1 localhost ${hostname()} ${(what.names ?? []).join(' ')}\n`,
    );
    await writeFile(
      join(folder, 'containers.conf'),
      '[containers]\nhttp_proxy=false\ndefault_ulimits=["nofile=20000:20000","nproc=30000:30000"]\n[engine]\nruntime="runc"\ncgroup_manager="cgroupfs"\n',
    );
    const place = [
      'set -e',
      'folder=$1',
      'shift',
      'mount --bind "$folder/resolv.conf" /etc/resolv.conf',
      'mount --bind "$folder/hosts" /etc/hosts',
      // Podman's locks and states, apart from those of others.
      'mount -t tmpfs tmpfs /run',
      'mount -t tmpfs tmpfs /dev/shm',
      'ip link set lo up',
      'ip route add local default dev lo',
      'ip -6 route add local default dev lo 2>/dev/null || true',
      '"$@"',
    ].join('\n');
    const node = [process.execPath, '--disable-warning=ExperimentalWarning', what.program, folder];
    const { status } = spawnSync(
      'unshare',
      [
        ...['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--'],
        ...['sh', '-c', place, 'sh', folder, ...node, ...(what.args ?? [])],
      ],
      {
        cwd: join(import.meta.dirname, '../..'),
        stdio: ['ignore', 'inherit', 'inherit'],
        timeout: what.timeoutMs,
        killSignal: 'SIGKILL',
        env: {
          ...process.env,
          TMPDIR: folder,
          CONTAINERS_CONF: join(folder, 'containers.conf'),
        },
      },
    );
    return status === 0;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
