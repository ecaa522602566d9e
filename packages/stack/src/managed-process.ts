import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { quietFlags } from './service-processes.ts';

export interface ProcessSpec {
  name: string;
  /** Absolute path of the TypeScript or JavaScript file to run. */
  entry: string;
  args?: readonly string[];
  /** Flags of Node and V8. */
  nodeFlags?: readonly string[];
  /** The whole environment of the process; see `baseEnvironment`. */
  env: Readonly<Record<string, string | undefined>>;
  /** How long the process may take to say that it is ready; 60 s where it is not said. What ends before is told at once. */
  readyTimeoutMs?: number;
  /** How long a SIGTERM may take before SIGKILL follows. */
  stopTimeoutMs?: number;
  /** Receives what the process writes to either stream, for its log file. */
  onOutput?: (chunk: Buffer) => void;
}

export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface ManagedProcess {
  readonly name: string;
  readonly pid: number;
  /** Settles once, when the process is gone. */
  readonly exited: Promise<ProcessExit>;
  /** SIGTERM, and SIGKILL when the process has not gone in time. */
  stop(): Promise<ProcessExit>;
  /** SIGKILL: what a crash looks like from outside. */
  kill(): Promise<ProcessExit>;
  /** The newest part of what it wrote to stderr. */
  stderr(): string;
}

/** How long a part may take to start, on a machine of which nobody knows what else it does. */
export const readyTimeoutMs = 60_000;
const stderrKeptMax = 256 * 1024;
const followParent = pathToFileURL(`${import.meta.dirname}/follow-parent.mjs`).href;

/** What any process needs from ours and nothing else, so that a stray variable cannot change a test. */
export function baseEnvironment(): Record<string, string | undefined> {
  const { PATH, HOME, TMPDIR, TZ, LANG, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, TMPDIR, TZ, LANG, NODE_COMPILE_CACHE, ...clockEnvironment() };
}

/** What sets the clock of a process, so that all of a test live at the same time (scripts/times). */
export function clockEnvironment(): Record<string, string | undefined> {
  const { FAKETIME, FAKETIME_DONT_FAKE_MONOTONIC, LD_PRELOAD, NO_FAKE_STAT } = process.env;
  if (FAKETIME === undefined) return {};
  return { FAKETIME, FAKETIME_DONT_FAKE_MONOTONIC, LD_PRELOAD, NO_FAKE_STAT };
}

/**
 * Starts a process and waits until it says that it has started: over the channel
 * between the two, whatever its log leaves out, or by a line `"msg":"ready"` on stderr. The
 * process ends by itself when ours does, however ours ends.
 * @throws Error with the end of its stderr when it ends or stays silent, or when `signal` aborts the wait.
 */
export async function startProcess(
  spec: ProcessSpec,
  signal?: AbortSignal,
): Promise<ManagedProcess> {
  const argv = [...quietFlags, ...(spec.nodeFlags ?? []), '--import', followParent, spec.entry];
  const child = spawn(process.execPath, [...argv, ...(spec.args ?? [])], {
    env: spec.env,
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    // A group of its own: Ctrl-C at the terminal reaches the launcher, which stops the parts in order.
    detached: true,
  });
  // The pipe only signals by closing; the process may be gone before us.
  child.stdin?.on('error', () => {});
  const stderr = collectStderr(child, spec.onOutput);
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  await once(child, 'spawn');
  const managed: ManagedProcess = {
    name: spec.name,
    pid: child.pid as number,
    exited,
    async stop() {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), spec.stopTimeoutMs ?? 20_000);
      return exited.finally(() => clearTimeout(timer));
    },
    async kill() {
      child.kill('SIGKILL');
      return exited;
    },
    stderr: stderr.text,
  };
  try {
    await becomesReady(managed, stderr, spec.readyTimeoutMs ?? readyTimeoutMs, signal);
  } catch (error) {
    await (signal?.aborted === true ? managed.stop() : managed.kill());
    throw error;
  }
  return managed;
}

interface CollectedStderr {
  text(): string;
  /** Settles when the process has said so. */
  readonly ready: Promise<void>;
}

function collectStderr(child: ChildProcess, onOutput: ProcessSpec['onOutput']): CollectedStderr {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let partialLine = '';
  let isReady = false;
  let announce = () => {};
  const ready = new Promise<void>((resolve) => {
    announce = resolve;
  });
  child.on('message', (message) => {
    if (!isStarted(message)) return;
    isReady = true;
    // What it logged before is read by then.
    setImmediate(announce);
  });
  child.stdout?.on('data', (chunk: Buffer) => onOutput?.(chunk));
  child.stderr?.on('data', (chunk: Buffer) => {
    onOutput?.(chunk);
    kept.push(chunk);
    keptBytes += chunk.length;
    for (let first = kept[0]; first !== undefined; first = kept[0]) {
      if (keptBytes - first.length < stderrKeptMax) break;
      keptBytes -= first.length;
      kept.shift();
    }
    if (isReady) return;
    const lines = `${partialLine}${chunk.toString('utf8')}`.split('\n');
    partialLine = lines.pop()?.slice(-stderrKeptMax) ?? '';
    if (lines.some(isReadyLine)) {
      isReady = true;
      announce();
    }
  });
  return { text: () => Buffer.concat(kept).toString('utf8'), ready };
}

function isStarted(message: unknown): boolean {
  return (message as { started?: unknown } | null)?.started === true;
}

function isReadyLine(line: string): boolean {
  if (!line.startsWith('{')) return false;
  try {
    return (JSON.parse(line) as { msg?: unknown }).msg === 'ready';
  } catch {
    return false;
  }
}

async function becomesReady(
  managed: ManagedProcess,
  stderr: CollectedStderr,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const fault = await Promise.race([
    stderr.ready.then(() => undefined),
    managed.exited.then(
      ({ code, signal }) => `ended before it was ready (${signal ?? `exit code ${code}`})`,
    ),
    new Promise<string>((resolve) => {
      timer = setTimeout(resolve, timeoutMs, `was not ready within ${timeoutMs / 1000} s`);
    }),
    new Promise<string>((resolve) => {
      if (signal?.aborted) resolve('was stopped while starting');
      signal?.addEventListener('abort', () => resolve('was stopped while starting'), {
        once: true,
      });
    }),
  ]);
  clearTimeout(timer);
  if (fault !== undefined)
    throw new Error(
      `${managed.name} ${fault}. The end of its stderr:\n${stderr.text().slice(-4000)}`,
    );
}
