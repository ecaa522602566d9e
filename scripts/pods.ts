/**
 * `npm run pods`: the chart's pods from the images of `npm run images` (made when there are none) under Podman,
 * as the air-gap profile has them, in a network with nothing but itself, before real stores: migrations and first
 * keys, a chat, a stream, both kinds of policies, analytics. Ends with 1 when something failed, when a container
 * may more than the chart says, or when anything was sent elsewhere. As root on Linux with podman, runc and nft.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { helm } from './chart/helm.ts';
import { root } from './chart/render.ts';
import { nameServer } from './pods/attempts.ts';

const tools = ['unshare', 'podman', 'runc', 'nft', 'ip', 'catatonit'];
const missing = tools.filter(
  (tool) => spawnSync('sh', ['-c', 'command -v "$1"', 'sh', tool]).status !== 0,
);
if (missing.length > 0 || process.getuid?.() !== 0) {
  process.stderr.write(
    `This takes root on Linux, and ${missing.join(', ') || 'its tools'}: apt-get install podman runc catatonit nftables iproute2 util-linux redis-server nats-server\n`,
  );
  process.exit(2);
}
if (!existsSync(join(root, 'dist/images/images.json'))) {
  const arch = process.arch === 'x64' ? 'amd64' : 'arm64';
  const made = spawnSync(process.execPath, ['scripts/images.ts', '--arch', arch], {
    cwd: root,
    stdio: 'inherit',
  });
  if (made.status !== 0) process.exit(1);
}
// It may have to be unpacked or fetched, which nobody can within.
helm();

const names = ['gateway', 'control-plane', 'data-service'].map((name) => `sluice-${name}.ai.svc`);
const folder = await mkdtemp(join(tmpdir(), 'sluice-pods-'));
try {
  // Postgres runs as another user.
  await chmod(folder, 0o711);
  await writeFile(join(folder, 'resolv.conf'), `nameserver ${nameServer}\n`);
  await writeFile(join(folder, 'hosts'), `127.0.0.1 localhost ${hostname()} ${names.join(' ')}\n`);
  await writeFile(
    join(folder, 'containers.conf'),
    '[containers]\nhttp_proxy=false\ndefault_ulimits=["nofile=20000:20000","nproc=30000:30000"]\n[engine]\nruntime="runc"\ncgroup_manager="cgroupfs"\n',
  );
  const place = [
    'set -e',
    'mount --bind "$1/resolv.conf" /etc/resolv.conf',
    'mount --bind "$1/hosts" /etc/hosts',
    // Podman's locks and states, apart from those of others.
    'mount -t tmpfs tmpfs /run',
    'mount -t tmpfs tmpfs /dev/shm',
    'ip link set lo up',
    'ip route add local default dev lo',
    'ip -6 route add local default dev lo 2>/dev/null || true',
    '"$2" --disable-warning=ExperimentalWarning "$3" "$1"',
  ].join('\n');
  const result = spawnSync(
    'unshare',
    [
      ...['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--'],
      ...['sh', '-c', place, 'sh', folder, process.execPath, join(root, 'scripts/pods/inside.ts')],
    ],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      timeout: 540_000,
      killSignal: 'SIGKILL',
      env: {
        ...process.env,
        TMPDIR: folder,
        CONTAINERS_CONF: join(folder, 'containers.conf'),
      },
    },
  );
  process.stdout.write(result.status === 0 ? 'ok\n' : 'FAILED\n');
  process.exitCode = result.status === 0 ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
