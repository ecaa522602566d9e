import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { baseEnvironment, quietFlags, type ServiceName, serviceProcesses } from '@sluice/stack';
import { expect } from 'vitest';
import { temporaryFolder } from '../run-folder.ts';
import type { FromHost, ToHost } from './messages.ts';

/** A service that runs in the host of this worker. */
export interface HostedService {
  /** Settles once, with the exit code that a process of its own would have. */
  readonly ended: Promise<number>;
  /** As SIGTERM does. */
  stop(): Promise<number>;
  /** The newest part of its log. */
  log(): string;
}

const logKeptMax = 256 * 1024;

/**
 * Runs a service in the host of this worker, a process that lives as long as the worker, and waits until it is ready.
 * @param entry its main module, built or not, which exports `service`
 * @param environment all that it is told: nothing of the host's own
 * @throws Error with the end of its log when it ends or stays silent, or when `signal` aborts the wait
 */
export async function hostService(
  { name, entry }: { name: ServiceName; entry: string },
  environment: Readonly<Record<string, string | undefined>>,
  { readyTimeoutMs = 60_000, signal }: { readyTimeoutMs?: number; signal?: AbortSignal } = {},
): Promise<HostedService> {
  const isEngine = name === 'data-service' && environment.CLICKHOUSE_URL === undefined;
  const host = hostFor(isEngine);
  const id = ++host.lastId;
  const logPath = join(await host.folder, `${id}-${name}.log`);
  const ready = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<number>();
  host.services.set(id, {
    isEngine,
    owner: testFile(),
    ready: ready.resolve,
    ended: ended.resolve,
  });
  const tell = (message: ToHost) => host.child.send(message);
  tell({
    kind: 'start',
    id,
    entry,
    environment,
    logPath,
  });
  const log = () => endOf(logPath);
  const stop = () => {
    tell({ kind: 'stop', id });
    return ended.promise;
  };
  let timer: NodeJS.Timeout | undefined;
  const aborted = Promise.withResolvers<string>();
  const abort = () => aborted.resolve('was stopped while starting');
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort, { once: true });
  const fault = await Promise.race([
    ready.promise,
    ended.promise.then((code) => `ended before it was ready (exit code ${code})`),
    aborted.promise,
    new Promise<string>((late) => {
      timer = setTimeout(late, readyTimeoutMs, `was not ready within ${readyTimeoutMs / 1000} s`);
    }),
  ]);
  clearTimeout(timer);
  signal?.removeEventListener('abort', abort);
  if (fault === undefined) return { ended: ended.promise, stop, log };
  await stop();
  throw new Error(`${name} ${fault}. The end of its stderr:\n${log().slice(-4000)}`);
}

interface Host {
  readonly child: ChildProcess;
  readonly folder: Promise<string>;
  readonly services: Map<number, Hosted>;
  lastId: number;
}

interface Hosted {
  /** Holds the embedded ClickHouse, of which a process has one. */
  readonly isEngine: boolean;
  /** The test file that started it. */
  readonly owner: string | undefined;
  ready(): void;
  ended(code: number): void;
}

const testFile = () => expect.getState().testPath;

/** Of this worker: one, unless a test runs two embedded ledgers at once. */
let hosts: Host[] = [];

/** One that has room, started where there is none. A host that holds what an earlier file left running is ended. */
function hostFor(isEngine: boolean): Host {
  const owner = testFile();
  for (const host of hosts)
    if ([...host.services.values()].some((each) => each.owner !== owner)) discard(host);
  const free = hosts.find(
    ({ services }) => !isEngine || ![...services.values()].some((each) => each.isEngine),
  );
  return free ?? startHost();
}

function discard(host: Host): void {
  hosts = hosts.filter((each) => each !== host);
  host.child.kill('SIGKILL');
}

function startHost(): Host {
  const { nodeFlags } = serviceProcesses.gateway;
  const child = spawn(
    process.execPath,
    [...quietFlags, ...nodeFlags, join(import.meta.dirname, 'main.ts')],
    {
      // Calls of the embedded ClickHouse and of the file system wait for a thread each.
      env: { ...baseEnvironment(), UV_THREADPOOL_SIZE: '12' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    },
  );
  const host: Host = { child, folder: temporaryFolder('hosted'), services: new Map(), lastId: 0 };
  child.on('message', (message: FromHost) => {
    const service = host.services.get(message.id);
    if (message.kind === 'ready') return service?.ready();
    host.services.delete(message.id);
    service?.ended(message.code);
  });
  child.once('close', () => {
    hosts = hosts.filter((each) => each !== host);
    for (const service of host.services.values()) service.ended(1);
  });
  // What is told to one that has just gone.
  child.on('error', () => {});
  child.unref();
  child.channel?.unref();
  hosts.push(host);
  return host;
}

function endOf(path: string): string {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    // Nothing was written yet.
    return '';
  }
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, logKeptMax));
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, size - bytes.length));
  } finally {
    closeSync(fd);
  }
}
