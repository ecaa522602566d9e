import {
  McpFault,
  type McpMessage,
  type McpRequest,
  messageBounds,
  readMessage,
  type SseBlock,
  SseReader,
} from '@sluice/mcp';
import type { ReplyHeaders } from '../../exchange/reply.ts';
import type { CallReply } from '../caller-reply.ts';
import { messageOf } from '../events.ts';
import { invalidReply, type ServerReply } from '../server-reply.ts';

/** Hears what a relay would tell its caller. */
export interface ReplyListener {
  opened?(): void;
  /** @param event undefined = it is the whole answer. False = too fast. */
  message?(message: McpMessage, event: SseBlock | undefined): boolean;
  /** An event without a message: an id, a time to wait. */
  blank?(event: SseBlock): void;
  /** Nothing was said for a while. */
  silent?(): void;
  ended?(): void;
}

/** Where a member's relay answers in place of a caller: whoever asks on the caller's behalf hears it. */
export class HeardReply implements CallReply {
  readonly #caller: CallReply;
  readonly #listener: ReplyListener;
  readonly #events = new SseReader();
  readonly #closers: (() => void)[] = [];
  readonly #leaves: (() => void)[] = [];
  #hasEnded = false;
  isStreaming = false;
  status = 0;
  headers: ReplyHeaders = {};
  #answer: McpMessage | undefined;

  /** @param caller who waits in the end */
  constructor(caller: CallReply, listener: ReplyListener = {}) {
    this.#caller = caller;
    this.#listener = listener;
  }

  get #hub(): Hub {
    return hubOf(this.#caller);
  }

  get isOver(): boolean {
    return this.#hasEnded || this.#caller.isOver;
  }

  /** What was answered to this. @throws McpFault when nothing was */
  answerTo(asked: McpRequest): ServerReply {
    const answer = this.#answer;
    const isAnswer = answer?.kind === 'response' || answer?.kind === 'error';
    if (!isAnswer) throw invalidReply(asked, 'it gave no answer');
    if (answer.id !== undefined && answer.id !== asked.id)
      throw invalidReply(asked, 'it has the id of another request');
    return answer;
  }

  add(headers: ReplyHeaders): void {
    this.#caller.add(headers);
  }

  body(status: number, body: Buffer, headers: ReplyHeaders = {}): void {
    if (this.isOver) return;
    this.status = status;
    this.headers = headers;
    const message = readMessage(body, messageBounds.upstream);
    this.#hear(message, undefined);
    this.#end();
  }

  empty(status: number, headers: ReplyHeaders = {}): void {
    if (this.isOver) return;
    this.status = status;
    this.headers = headers;
    this.#end();
  }

  openStream(headers: ReplyHeaders = {}): void {
    if (this.isOver || this.isStreaming) return;
    this.status = 200;
    this.headers = headers;
    this.isStreaming = true;
    this.#listener.opened?.();
  }

  write(events: Buffer): boolean {
    if (this.isOver) return true;
    let isTaken = true;
    for (const event of this.#events.push(events)) {
      const message = messageOf(event);
      if (message === undefined) this.#listener.blank?.(event);
      else isTaken = this.#hear(message, event) && isTaken;
    }
    return isTaken;
  }

  keepAlive(): void {
    if (!this.isOver) this.#listener.silent?.();
  }

  onDrain(listener: () => void): void {
    if (!this.#hasEnded) this.#hub.drained.add(this.#own(this.#hub.drained, listener));
  }

  onClose(listener: () => void): void {
    if (this.#hasEnded) {
      listener();
      return;
    }
    this.#closers.push(listener);
    this.#hub.closed.add(this.#own(this.#hub.closed, listener));
  }

  /** It goes when this ends. */
  #own(set: Set<() => void>, listener: () => void): () => void {
    this.#leaves.push(() => set.delete(listener));
    return listener;
  }

  endStream(): void {
    if (!this.isOver) this.#end();
  }

  #hear(message: McpMessage, event: SseBlock | undefined): boolean {
    if (message.kind === 'response' || message.kind === 'error') this.#answer = message;
    return this.#listener.message?.(message, event) ?? true;
  }

  #end(): void {
    this.#hasEnded = true;
    for (const leave of this.#leaves) leave();
    this.#listener.ended?.();
    for (const close of this.#closers) close();
  }
}

/** Those who hear of one caller's connection: many members, one listener. */
interface Hub {
  readonly drained: Set<() => void>;
  readonly closed: Set<() => void>;
}

const hubs = new WeakMap<CallReply, Hub>();

function hubOf(caller: CallReply): Hub {
  const known = hubs.get(caller);
  if (known !== undefined) return known;
  const hub: Hub = { drained: new Set(), closed: new Set() };
  hubs.set(caller, hub);
  caller.onDrain(() => {
    for (const listener of [...hub.drained]) listener();
  });
  caller.onClose(() => {
    for (const listener of [...hub.closed]) listener();
  });
  return hub;
}

/** A fault of a member in one line, for logs that a caller reads. */
export function faultText(error: unknown): string {
  if (error instanceof McpFault) return error.message;
  return error instanceof Error ? error.message : 'it failed';
}
