import { GatewayError } from '@sluice/errors';
import { idKey, type McpMessage, SseReader } from '@sluice/mcp';
import type { UpstreamCall } from '../calls/upstream-call.ts';
import { EventReading } from './events.ts';

/** What a link tells of. */
export interface LinkEvents {
  /** The path that messages are sent to. */
  endpoint(path: string): void;
  /** False = too fast: it is paused until it is resumed. */
  message(message: McpMessage): boolean;
  /** It has ended, and nothing follows. */
  closed(error: GatewayError | undefined): void;
}

/**
 * The one stream of a session of HTTP+SSE (2024-11-05): first it names the
 * address that messages are sent to, then it tells all answers and all else.
 */
export function readLink(upstream: UpstreamCall, base: URL, events: LinkEvents): void {
  const reader = new SseReader();
  const reading = new EventReading('any');
  let isOver = false;
  const close = (error: unknown) => {
    if (isOver) return;
    isOver = true;
    events.closed(error instanceof GatewayError ? error : undefined);
  };
  upstream.consume({
    data(chunk) {
      let isTaken = true;
      try {
        for (const event of reader.push(chunk)) {
          if (event.name === 'endpoint') events.endpoint(endpointOf(event.data ?? '', base));
          else {
            const message = reading.read(event);
            if (message) isTaken = events.message(message) && isTaken;
          }
        }
        return isTaken;
      } catch (caught) {
        const error =
          caught instanceof GatewayError
            ? caught
            : new GatewayError('upstream.invalid_response', { cause: caught });
        close(error);
        upstream.abort(error);
        return false;
      }
    },
    end: () => close(undefined),
    fail: close,
  });
}

/** A server names no other host: credentials are sent there. */
function endpointOf(data: string, base: URL): string {
  const url = URL.canParse(data.trim(), base.href) ? new URL(data.trim(), base.href) : undefined;
  if (url === undefined || url.origin !== base.origin)
    throw new GatewayError('upstream.invalid_response', {
      message: 'The MCP server names an address of another host for messages.',
    });
  return `${url.pathname}${url.search}`;
}

/** A request that waits for its answer on a link. */
export interface LinkWaiter {
  readonly progressToken: string | number | undefined;
  /** Anything but its answer that belongs to it. False = its caller reads too slowly. */
  told(message: McpMessage): boolean;
  answered(message: McpMessage): void;
  failed(error: GatewayError): void;
}

/** Heard by whoever listens to a session's own stream. False = too fast. */
export type LinkListener = (message: McpMessage) => boolean;

const unheardMax = 100;

/** A session's link at this gateway, and who waits for what on it. */
export class SseLink {
  readonly #abort = new AbortController();
  readonly #waiters = new Map<string, LinkWaiter>();
  /** For a listener to come. */
  #unheard: McpMessage[] = [];
  #listener: LinkListener | undefined;
  /** Of what nobody waits for here; false = it is kept for a listener to come. */
  readonly #stray: (message: McpMessage) => boolean;
  /** Reads on, after somebody was told too fast: to be called when that is read, or nobody is to be told any more. */
  resume = () => {};
  endpoint = '';
  isClosed = false;
  /** `performance.now()` */
  usedAt = performance.now();

  constructor(stray: (message: McpMessage) => boolean) {
    this.#stray = stray;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get isIdle(): boolean {
    return this.#waiters.size === 0 && this.#listener === undefined;
  }

  wait(id: string | number, waiter: LinkWaiter): () => void {
    this.usedAt = performance.now();
    const key = idKey(id);
    this.#waiters.set(key, waiter);
    return () => {
      this.usedAt = performance.now();
      this.#waiters.delete(key);
      this.resume();
    };
  }

  get hasListener(): boolean {
    return this.#listener !== undefined;
  }

  listen(listener: LinkListener): () => void {
    this.#listener = listener;
    for (const message of this.#unheard.splice(0)) listener(message);
    return () => {
      this.usedAt = performance.now();
      if (this.#listener === listener) this.#listener = undefined;
      this.resume();
    };
  }

  /** False = too fast. */
  take(message: McpMessage): boolean {
    if (message.kind === 'response' || message.kind === 'error') {
      const waiter = message.id === undefined ? undefined : this.#waiters.get(idKey(message.id));
      if (waiter === undefined) this.#stray(message);
      else waiter.answered(message);
      return true;
    }
    const waiter = this.#waiterOf(message);
    if (waiter !== undefined) return waiter.told(message);
    if (this.#listener !== undefined) return this.#listener(message);
    if (!this.#stray(message) && this.#unheard.length < unheardMax) this.#unheard.push(message);
    return true;
  }

  /** To whom a message belongs that answers nothing: the transport does not say, so as well as can be told. */
  #waiterOf(message: McpMessage): LinkWaiter | undefined {
    if (message.kind === 'notification' && message.method === 'notifications/progress') {
      const token = message.params?.progressToken;
      for (const waiter of this.#waiters.values())
        if (waiter.progressToken === token) return waiter;
    }
    const isAsked = message.kind === 'request';
    if (this.#waiters.size === 1 || (isAsked && this.#listener === undefined))
      return [...this.#waiters.values()].at(-1);
    return undefined;
  }

  close(error?: GatewayError): void {
    if (this.isClosed) return;
    this.isClosed = true;
    const broken = error ?? new GatewayError('upstream.stream_cut');
    for (const waiter of [...this.#waiters.values()]) waiter.failed(broken);
    this.#waiters.clear();
    this.#abort.abort(new GatewayError('request.aborted'));
  }
}
