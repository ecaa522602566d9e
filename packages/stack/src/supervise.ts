import { type ManagedProcess, type ProcessSpec, startProcess } from './managed-process.ts';

export type SupervisionEvent =
  | { kind: 'ready'; name: string; pid: number }
  | { kind: 'crashed'; name: string; reason: string; retryInMs: number }
  | { kind: 'stopped'; name: string };

export interface SupervisionOptions {
  /** Whether a process that ends unasked is started again. */
  restart: boolean;
  onEvent?: (event: SupervisionEvent) => void;
  /** First wait before a restart; doubled for each crash in a row up to `backoffMaxMs`. */
  backoffMs?: number;
  backoffMaxMs?: number;
}

/** One process kept running until it is stopped. */
export interface Supervised {
  readonly name: string;
  /** `undefined` while the process is down. */
  readonly pid: number | undefined;
  /** Resolves when the process is ready. Does nothing when it runs; waits for one that is being stopped. */
  start(): Promise<void>;
  /** Ends the process and any restart under way. */
  stop(): Promise<void>;
  /** SIGKILL. With `restart` the process comes back by itself. */
  kill(): Promise<void>;
  stderr(): string;
}

/** A process that has run this long is healthy: its next crash waits the shortest time again. */
const healthyAfterMs = 60_000;

/** Prepares a process; nothing runs until `start`. */
export function supervise(spec: ProcessSpec, options: SupervisionOptions): Supervised {
  const backoffMs = options.backoffMs ?? 1000;
  const backoffMaxMs = options.backoffMaxMs ?? 10_000;
  const report = options.onEvent ?? (() => {});
  let current: ManagedProcess | undefined;
  let starting: Promise<ManagedProcess> | undefined;
  let stopping: Promise<unknown> | undefined;
  let abortStart = new AbortController();
  let retryTimer: NodeJS.Timeout | undefined;
  let crashesInARow = 0;
  let wanted = false;
  let lastStderr = '';

  async function launch(): Promise<void> {
    const startedAt = Date.now();
    starting = startProcess(spec, abortStart.signal);
    let launched: ManagedProcess;
    try {
      launched = await starting;
    } finally {
      starting = undefined;
    }
    current = launched;
    report({ kind: 'ready', name: spec.name, pid: launched.pid });
    void launched.exited.then(({ code, signal }) => {
      lastStderr = launched.stderr();
      current = undefined;
      if (Date.now() - startedAt > healthyAfterMs) crashesInARow = 0;
      if (wanted) crashed(`ended with ${signal ?? `exit code ${code}`}`);
    });
  }

  function crashed(reason: string): void {
    if (!options.restart) {
      report({ kind: 'stopped', name: spec.name });
      return;
    }
    const retryInMs = Math.min(backoffMs * 2 ** crashesInARow, backoffMaxMs);
    crashesInARow += 1;
    report({ kind: 'crashed', name: spec.name, reason, retryInMs });
    retryTimer = setTimeout(() => {
      retryTimer = undefined;
      launch().catch((error: Error) => {
        if (wanted) crashed(error.message);
      });
    }, retryInMs);
  }

  return {
    name: spec.name,
    get pid() {
      return current?.pid;
    },
    async start() {
      if (stopping !== undefined) await stopping;
      if (current !== undefined || starting !== undefined || retryTimer !== undefined) return;
      wanted = true;
      abortStart = new AbortController();
      await launch();
    },
    async stop() {
      wanted = false;
      clearTimeout(retryTimer);
      retryTimer = undefined;
      abortStart.abort();
      const launched = current ?? (await starting?.catch(() => undefined));
      stopping = launched?.stop();
      await stopping;
    },
    async kill() {
      await current?.kill();
    },
    stderr: () => current?.stderr() ?? lastStderr,
  };
}
