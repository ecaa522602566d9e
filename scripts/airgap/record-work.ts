import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Recorded, readDestinations } from './destinations.ts';

const root = join(import.meta.dirname, '../..');
const work = 'services/gateway/test/air-gap-work.test.ts';

/**
 * Runs the work of the test in a network namespace of its own, which has a
 * loopback interface and no route, under strace (on Debian: apt-get install strace).
 * @throws Error when the namespace or the recorder cannot be had
 */
export async function recordWork(options: {
  isOn: boolean;
  seconds: number;
}): Promise<Recorded & { passed: boolean }> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-airgap-'));
  const trace = join(folder, 'trace');
  const strace = [
    'strace',
    '-f',
    '--seccomp-bpf',
    '-qq',
    '-e',
    'trace=connect,sendto,sendmsg,sendmmsg',
    '-e',
    'signal=none',
    // Most of what is sent goes over connected sockets and names no address.
    '-o',
    `|grep -E "sin6?_port=" > "${trace}"`,
    process.execPath,
    'node_modules/vitest/vitest.mjs',
    'run',
    work,
  ];
  try {
    const code = await run(
      'unshare',
      ['-n', '--', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...strace],
      {
        SLUICE_AIRGAP: options.isOn ? 'on' : 'off',
        SLUICE_AIRGAP_SECONDS: String(options.seconds),
      },
    );
    if (code === 127) throw new Error('strace or ip is not installed.');
    return { ...readDestinations(await readFile(trace, 'utf8')), passed: code === 0 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function run(program: string, args: string[], env: Record<string, string>): Promise<number | null> {
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child
      .once('error', (error) =>
        reject(new Error(`${program} did not start; it takes root on Linux`, { cause: error })),
      )
      .once('close', resolve);
  });
}
