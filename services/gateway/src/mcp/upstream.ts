import { GatewayError } from '@sluice/errors';
import { checkUpstreamUrl, type HostRules, type UpstreamPools } from '@sluice/outbound';
import { UpstreamCall } from '../calls/upstream-call.ts';
import type { CompiledMcpServer } from '../compiled/mcp-servers.ts';
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
  readonly signal: AbortSignal;
  /** Of the owner of the connection: a workspace. */
  readonly owner: string;
  /** Instead of the server's own; of its origin. */
  readonly path?: string;
}

/** However much progress is told, a call ends. */
const callMsMax = 600_000;
/** Streams that the server speaks on when it has something to say. */
const never = 2 ** 31 - 1;

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
  #timer: NodeJS.Timeout;
  #cap: NodeJS.Timeout;
  readonly #times: CallTimes;
  readonly #end: () => void;
  readonly #abort = new AbortController();
  readonly #onGone: () => void;
  readonly #gone: AbortSignal;
  isOver = false;

  /** @param gone aborted when the caller leaves */
  constructor(times: CallTimes, gone: AbortSignal) {
    const end = () => {
      this.isOver = true;
      this.#abort.abort(new GatewayError('upstream.timeout', { failureCause: 'timeout' }));
    };
    this.#times = times;
    this.#end = end;
    this.#timer = setTimeout(end, times.timeoutMs);
    this.#cap = setTimeout(end, times.wholeMs);
    this.#gone = gone;
    this.#onGone = () => this.#abort.abort(new GatewayError('request.aborted'));
    if (gone.aborted) this.#onGone();
    else gone.addEventListener('abort', this.#onGone, { once: true });
  }

  /** Aborted when the time is over, or the caller has left. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** It has no end but those of its two sides. */
  lift(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#cap);
  }

  /** After it was lifted. */
  restart(): void {
    this.lift();
    if (this.#abort.signal.aborted) return;
    this.#timer = setTimeout(this.#end, this.#times.timeoutMs);
    this.#cap = setTimeout(this.#end, this.#times.wholeMs);
  }

  /** Nobody waits for it any more. */
  end(): void {
    this.#onGone();
  }

  progress(): void {
    this.#timer.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#cap);
    this.#gone.removeEventListener('abort', this.#onGone);
  }
}
