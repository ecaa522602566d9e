import { GatewayError } from '@sluice/errors';
import { checkUpstreamUrl, type HostRules, type UpstreamPools } from '@sluice/outbound';
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
  const { url } = checkUpstreamUrl(source.url, hostRules, 'url', 'admin');
  const pool = pools.pool(url.origin, { by: 'admin', owner: request.owner });
  return new UpstreamCall(pool, {
    path: request.path ?? `${url.pathname}${url.search}`,
    method: request.method,
    headers: request.headers,
    body: request.body ?? null,
    // Deadlines are the relay's: they know of progress.
    timeoutMs: never,
    idleTimeoutMs: never,
    signal: request.signal,
  });
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
export class CallDeadline {
  /** Aborted when the time is over, or the caller has left. */
  readonly signal = new CallSignal();
  #timer: NodeJS.Timeout;
  /** When it ends whatever is told, by `performance.now()`. */
  #wholeUntil: number;
  /** The timer is that of the whole: progress changes nothing any more. */
  #isLast = false;
  /** The server waits for its caller. */
  #isHeld = false;
  readonly #times: CallTimes;
  readonly #end: () => void;
  readonly #onGone: () => void;
  readonly #gone: AbortSignal;
  isOver = false;

  /** @param gone aborted when the caller leaves, or the gateway ends */
  constructor(times: CallTimes, gone: AbortSignal) {
    const { signal } = this;
    this.#times = times;
    this.#end = () => {
      this.isOver = true;
      signal.abort(new GatewayError('upstream.timeout', { failureCause: 'timeout' }));
    };
    this.#wholeUntil = performance.now() + times.wholeMs;
    this.#timer = setTimeout(this.#end, Math.min(times.timeoutMs, times.wholeMs));
    this.#gone = gone;
    this.#onGone = () => signal.abort(abortReason(gone));
    if (gone.aborted) this.#onGone();
    else gone.addEventListener('abort', this.#onGone, { once: true });
  }

  /** It has no end but those of its two sides. */
  lift(): void {
    clearTimeout(this.#timer);
    this.#isLast = true;
  }

  /** After it was lifted. */
  restart(): void {
    clearTimeout(this.#timer);
    if (this.signal.aborted) return;
    const { timeoutMs, wholeMs } = this.#times;
    this.#isLast = false;
    this.#wholeUntil = performance.now() + wholeMs;
    this.#timer = setTimeout(this.#end, Math.min(timeoutMs, wholeMs));
  }

  /** The server has asked its caller something: until it goes on, only the cap counts, since people take their time. */
  hold(): void {
    if (this.#isLast || this.signal.aborted) return;
    this.#isHeld = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#end, Math.max(0, this.#wholeUntil - performance.now()));
  }

  /** Nobody waits for it any more. */
  end(): void {
    this.#onGone();
  }

  progress(): void {
    if (this.#isLast) return;
    const leftMs = this.#wholeUntil - performance.now();
    if (leftMs > this.#times.timeoutMs) {
      if (this.#isHeld) this.#goOn();
      else this.#timer.refresh();
      return;
    }
    this.#isLast = true;
    clearTimeout(this.#timer);
    if (!this.signal.aborted) this.#timer = setTimeout(this.#end, Math.max(0, leftMs));
  }

  #goOn(): void {
    this.#isHeld = false;
    clearTimeout(this.#timer);
    if (!this.signal.aborted) this.#timer = setTimeout(this.#end, this.#times.timeoutMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#isLast = true;
    this.#gone.removeEventListener('abort', this.#onGone);
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
