import { GatewayError } from '@sluice/errors';
import { type McpMessage, type McpRequest, messageBounds, SseReader } from '@sluice/mcp';
import type { UpstreamCall } from '../calls/upstream-call.ts';
import { messageOf } from './events.ts';
import { readReply } from './server-reply.ts';

/** Read ahead of whoever takes them. */
const aheadMax = 64;

/** The messages of one answer, body or stream, one after the other. */
export class ServerMessages {
  readonly #upstream: UpstreamCall;
  readonly #ready: McpMessage[] = [];
  #wanted:
    | { resolve: (message: McpMessage | undefined) => void; reject: (error: unknown) => void }
    | undefined;
  #error: unknown;
  #hasEnded = false;

  constructor(upstream: UpstreamCall) {
    this.#upstream = upstream;
  }

  /** @throws McpFault, GatewayError where the head says that there are none */
  static async of(upstream: UpstreamCall, asked: McpRequest): Promise<ServerMessages> {
    const messages = new ServerMessages(upstream);
    if (upstream.isEventStream && upstream.status === 200) messages.#consume();
    else {
      const body = await upstream.readAll(messageBounds.upstream.bytesMax);
      messages.#ready.push(readReply(upstream, body, asked));
      messages.#hasEnded = true;
    }
    return messages;
  }

  /** Undefined = there are no more. One at a time asks. */
  next(): Promise<McpMessage | undefined> {
    const ready = this.#ready.shift();
    if (ready !== undefined) {
      if (this.#ready.length < aheadMax) this.#upstream.resume();
      return Promise.resolve(ready);
    }
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#hasEnded) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#wanted = { resolve, reject };
    });
  }

  /** Nobody wants the rest. */
  leave(): void {
    this.#upstream.abort(new GatewayError('request.aborted'));
  }

  #consume(): void {
    const reader = new SseReader();
    this.#upstream.consume({
      data: (chunk) => {
        try {
          for (const event of reader.push(chunk)) {
            const message = messageOf(event);
            if (message !== undefined) this.#add(message);
          }
        } catch (error) {
          this.#upstream.abort(new GatewayError('upstream.invalid_response', { cause: error }));
          this.#fail(error);
        }
        return this.#ready.length < aheadMax;
      },
      end: () => {
        this.#hasEnded = true;
        this.#wanted?.resolve(undefined);
        this.#wanted = undefined;
      },
      fail: (error) => this.#fail(error),
    });
  }

  #add(message: McpMessage): void {
    if (this.#wanted === undefined) this.#ready.push(message);
    else {
      const { resolve } = this.#wanted;
      this.#wanted = undefined;
      resolve(message);
    }
  }

  #fail(error: unknown): void {
    this.#error ??= error;
    this.#wanted?.reject(error);
    this.#wanted = undefined;
  }
}
