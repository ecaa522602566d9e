import { GatewayError } from '@sluice/errors';
import {
  type CheckedUrl,
  checkUpstreamUrl,
  type HostRules,
  type UpstreamPools,
} from '@sluice/outbound';
import { type Awaiting, type DeadlineLine, deadlineLine } from '../calls/deadlines.ts';
import { never, UpstreamCall } from '../calls/upstream-call.ts';
import type { CompiledMcpServer } from '../compiled/mcp-servers.ts';
import { type Abortable, abortReason } from '../http/caller-gone.ts';
import type { UpstreamTokens } from './upstream-tokens.ts';

export interface UpstreamDeps {
  readonly pools: UpstreamPools;
  readonly hostRules: HostRules;
  readonly tokens: UpstreamTokens;
  /** Of one call, until its answer; begun anew by progress. */
  readonly timeoutMs: number;
}

export interface UpstreamRequest {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly headers: Record<string, string>;
  readonly body: Buffer | undefined;
  readonly signal: Abortable;
  /** Of the owner of the connection: a workspace. */
  readonly owner: string;
  /** Instead of the server's own; of its origin. */
  readonly path?: string | undefined;
}

/** However much progress is told, a call ends. */
const callMsMax = 600_000;

/** Opens one request to a server, at an address that is checked when it is connected to. @throws GatewayError */
export function callServer(
  { source }: CompiledMcpServer,
  request: UpstreamRequest,
  { pools, hostRules }: UpstreamDeps,
): UpstreamCall {
  const { origin, path } = partsOf(checkUpstreamUrl(source.url, hostRules, 'url', 'admin'));
  const pool = pools.pool(origin, { by: 'admin', owner: request.owner });
  return new UpstreamCall(pool, {
    path: request.path ?? path,
    method: request.method,
    headers: request.headers,
    body: request.body ?? null,
    // Deadlines are the relay's: they know of progress.
    timeoutMs: never,
    idleTimeoutMs: never,
    signal: request.signal,
  });
}

interface AddressParts {
  readonly origin: string;
  readonly path: string;
}

/** Of addresses that were checked before: a URL puts its parts together each time that it is asked. */
const knownParts = new WeakMap<CheckedUrl, AddressParts>();

function partsOf(checked: CheckedUrl): AddressParts {
  let parts = knownParts.get(checked);
  if (parts === undefined) {
    const { origin, pathname, search } = checked.url;
    parts = { origin, path: `${pathname}${search}` };
    knownParts.set(checked, parts);
  }
  return parts;
}

/** How long one call may take. */
export interface CallTimes {
  /** Until its answer; begun anew by progress. */
  readonly timeoutMs: number;
  /** However much progress is told. */
  readonly wholeMs: number;
}

/** As the server's policy says, else as the gateway is set. */
export function timesOf({ policy }: CompiledMcpServer, deps: UpstreamDeps): CallTimes {
  const timeoutMs = policy.request_timeout ?? deps.timeoutMs;
  return { timeoutMs, wholeMs: policy.request_timeout_max ?? Math.max(callMsMax, timeoutMs) };
}

/** Ends a call that takes too long. Progress begins the time anew, up to a cap. */
export class CallDeadline implements Awaiting {
  older: Awaiting | undefined = undefined;
  newer: Awaiting | undefined = undefined;
  dueAt = 0;
  /** Aborted when the time is over, or the caller has left. */
  readonly signal = new CallSignal();
  /** Where it stands while its time is the whole of what it was given. */
  readonly #line: DeadlineLine;
  /** For what is left of the whole; undefined = it stands in its line, or nobody waits. */
  #timer: NodeJS.Timeout | undefined;
  /** When it ends whatever is told, by `performance.now()`. */
  #wholeUntil: number;
  /** The timer is that of the whole: progress changes nothing any more. */
  #isLast = false;
  readonly #times: CallTimes;
  readonly #onGone: () => void;
  readonly #gone: AbortSignal;
  isOver = false;

  /** @param gone aborted when the caller leaves, or the gateway ends */
  constructor(times: CallTimes, gone: AbortSignal) {
    const { signal } = this;
    this.#times = times;
    this.#line = deadlineLine(Math.min(times.timeoutMs, times.wholeMs));
    this.#line.add(this);
    this.#wholeUntil = performance.now() + times.wholeMs;
    this.#gone = gone;
    this.#onGone = () => signal.abort(abortReason(gone));
    if (gone.aborted) this.#onGone();
    else gone.addEventListener('abort', this.#onGone, { once: true });
  }

  onLate(): void {
    this.isOver = true;
    this.signal.abort(new GatewayError('upstream.timeout', { failureCause: 'timeout' }));
  }

  /** It has no end but those of its two sides. */
  lift(): void {
    this.#halt();
    this.#isLast = true;
  }

  /** After it was lifted. */
  restart(): void {
    this.#halt();
    if (this.signal.aborted) return;
    this.#isLast = false;
    this.#wholeUntil = performance.now() + this.#times.wholeMs;
    this.#line.add(this);
  }

  /** The server has asked its caller something: until it goes on, only the cap counts, since people take their time. */
  hold(): void {
    if (this.#isLast || this.signal.aborted) return;
    this.#endWithWhole();
  }

  /** Nobody waits for it any more. */
  end(): void {
    this.#onGone();
  }

  progress(): void {
    if (this.#isLast) return;
    if (this.#wholeUntil - performance.now() <= this.#times.timeoutMs) {
      this.#isLast = true;
      this.#endWithWhole();
      return;
    }
    if (this.signal.aborted) return;
    this.#halt();
    this.#line.add(this);
  }

  stop(): void {
    this.#halt();
    this.#isLast = true;
    this.#gone.removeEventListener('abort', this.#onGone);
  }

  #endWithWhole(): void {
    this.#halt();
    if (this.signal.aborted) return;
    const leftMs = Math.max(0, this.#wholeUntil - performance.now());
    this.#timer = setTimeout(() => this.onLate(), leftMs);
  }

  #halt(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#line.delete(this);
  }
}

/** Of a question of the gateway's own: that it takes too long is the server's doing, whoever waits for it. */
export function ownDeadline(ms: number): Abortable {
  const signal = new CallSignal();
  const late = () =>
    signal.abort(new GatewayError('upstream.timeout', { failureCause: 'timeout' }));
  setTimeout(late, ms).unref();
  return signal;
}

/** A signal that few listen to. */
class CallSignal implements Abortable {
  aborted = false;
  reason: unknown;
  #listeners: (() => void)[] = [];

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners.splice(0)) listener();
  }

  addEventListener(_type: 'abort', listener: () => void, _options?: { once?: boolean }): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }
}
