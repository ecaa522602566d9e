import { hash } from 'node:crypto';

/** What was issued, and until when it is good. */
export interface Issued<Value> {
  value: Value;
  /** Unix ms; Infinity for what does not expire. */
  expiresAtMs: number;
}

export interface TokenCacheOptions {
  entriesMax?: number;
  /** For the whole of one issue. */
  deadlineMs?: number;
  nowMs?: () => number;
}

/** Nothing is handed out that is good for less. */
const usableForMs = 30_000;
/** From here on a new token is fetched while the old one is still handed out. */
const refreshBeforeMs = 5 * 60_000;
/** How long a failure answers for those who ask next. */
const failureMs = 1_000;

interface Entry {
  value: unknown;
  expiresAtMs: number;
  refreshAtMs: number;
  failure: unknown;
  failedUntilMs: number;
  flight: Flight | undefined;
}

/** One issue under way, shared by all who want it. */
interface Flight {
  result: Promise<unknown>;
  abort: AbortController;
  waiting: number;
}

/**
 * Tokens and temporary keys, issued once for all who ask at the same time and
 * again before they expire. A caller who leaves does not take the token from
 * the others; when all have left, the issue is given up. Failures are kept for
 * a second, so that a broken credential does not become a flood.
 */
export class TokenCache {
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #entriesMax: number;
  readonly #deadlineMs: number;
  readonly #nowMs: () => number;

  constructor(options: TokenCacheOptions = {}) {
    this.#entriesMax = options.entriesMax ?? 1_000;
    this.#deadlineMs = options.deadlineMs ?? 10_000;
    this.#nowMs = options.nowMs ?? Date.now;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * @param key of `tokenKey`; names one kind of value, so that `Value` is always the same for it
   * @param issue gets a signal that ends at the deadline, or when nobody waits any more
   */
  async get<Value>(
    key: string,
    signal: AbortSignal,
    issue: (signal: AbortSignal) => Promise<Issued<Value>>,
  ): Promise<Value> {
    signal.throwIfAborted();
    const entry = this.#entry(key);
    const nowMs = this.#nowMs();
    if (entry.expiresAtMs - usableForMs > nowMs) {
      if (nowMs >= entry.refreshAtMs && entry.flight === undefined && nowMs >= entry.failedUntilMs)
        // The old token serves until the new one is here; a failure shows when it no longer does.
        this.#launch(entry, issue).result.catch(() => undefined);
      return entry.value as Value;
    }
    if (entry.flight === undefined && nowMs < entry.failedUntilMs) throw entry.failure;
    return (await waitFor(entry, entry.flight ?? this.#launch(entry, issue), signal)) as Value;
  }

  #entry(key: string): Entry {
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    const entry = known ?? {
      value: undefined,
      expiresAtMs: 0,
      refreshAtMs: 0,
      failure: undefined,
      failedUntilMs: 0,
      flight: undefined,
    };
    this.#entries.set(key, entry);
    if (this.#entries.size > this.#entriesMax)
      this.#entries.delete(this.#entries.keys().next().value as string);
    return entry;
  }

  #launch<Value>(entry: Entry, issue: (signal: AbortSignal) => Promise<Issued<Value>>): Flight {
    const abort = new AbortController();
    const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(this.#deadlineMs)]);
    const result = issue(signal).then(
      ({ value, expiresAtMs }) => {
        const lifetimeMs = expiresAtMs - this.#nowMs();
        entry.value = value;
        entry.expiresAtMs = expiresAtMs;
        // A short-lived token is not fetched all the time for being close to its end.
        entry.refreshAtMs = expiresAtMs - Math.min(refreshBeforeMs, lifetimeMs / 4);
        if (entry.flight === flight) entry.flight = undefined;
        return value;
      },
      (error: unknown) => {
        // A flight that was given up says nothing of the credential.
        if (entry.flight === flight) {
          entry.flight = undefined;
          entry.failure = error;
          entry.failedUntilMs = this.#nowMs() + failureMs;
        }
        throw error;
      },
    );
    const flight: Flight = { result, abort, waiting: 0 };
    entry.flight = flight;
    return flight;
  }
}

/** The flight's result, unless the one who waits leaves first. The last one out ends the flight. */
async function waitFor(entry: Entry, flight: Flight, signal: AbortSignal): Promise<unknown> {
  flight.waiting++;
  let leave: () => void = () => undefined;
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([flight.result, left]);
  } finally {
    signal.removeEventListener('abort', leave);
    flight.waiting--;
    if (flight.waiting === 0 && signal.aborted && entry.flight === flight) {
      // Who comes next must not be given what is being thrown away.
      entry.flight = undefined;
      flight.abort.abort(signal.reason);
    }
  }
}

/** One name for everything that decides what is issued; the parts cannot be read from it. */
export function tokenKey(...parts: readonly (string | undefined)[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url');
}
