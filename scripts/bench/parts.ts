import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pinned } from './cores.ts';
import type { LoadJob, LoadResult } from './load-job.ts';

/** The bench's own processes: upstream, bare proxy and load generator. Each says when it is ready, and ends with us. */
export interface Part {
  readonly pid: number;
  /** Where it listens, for those that do. */
  readonly port: number;
  send(job: LoadJob): Promise<LoadResult>;
  stop(): Promise<void>;
}

const startTimeoutMs = 10_000;

export async function startPart(
  file: 'upstream.ts' | 'bare-proxy.ts' | 'load.ts',
  args: readonly string[],
  core: string | undefined,
): Promise<Part> {
  const node = [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    `${import.meta.dirname}/${file}`,
    ...args,
  ];
  const [command, ...rest] = pinned(core, node);
  const child = spawn(command, rest, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ready = (await message(child, file, startTimeoutMs)) as { port?: number };
  return {
    pid: child.pid!,
    port: ready.port ?? 0,
    async send(job) {
      child.send(job);
      return (await message(child, file, job.durationMsMax + 30_000)) as LoadResult;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL'); // It holds nothing worth saving.
      await once(child, 'exit');
    },
  };
}

async function message(child: ChildProcess, name: string, timeoutMs: number): Promise<unknown> {
  const abort = new AbortController();
  const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(timeoutMs)]);
  try {
    return await Promise.race([
      once(child, 'message', { signal }).then(([value]: unknown[]) => value),
      once(child, 'exit', { signal }).then(([code]: unknown[]) => {
        throw new Error(`${name} ended with ${code}`);
      }),
    ]);
  } finally {
    abort.abort();
  }
}
