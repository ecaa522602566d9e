import type { Endpoint } from '@sluice/contracts';
import { GrowingBytes } from '@sluice/json';
import type { ReplySink, StreamReply } from '../exchange/reply.ts';
import { codingOf } from '../http/content-coding.ts';
import type { Lead } from './flights.ts';
import { deliver, isAnswer } from './forms.ts';
import type { CacheFill, Delivery } from './request.ts';
import type { CacheStore, ReplyForm } from './store.ts';

/** What is asked, in the words of the store. */
export interface Subject {
  organisationId: string;
  key: string;
  endpoint: Endpoint;
  form: ReplyForm;
  maxAgeMs: number;
  signal: AbortSignal;
}

export interface FillDeps {
  store: CacheStore;
  objectBytesMax: number;
  /** All copies of streams under way together. */
  copies: { bytes: number; readonly bytesMax: number };
  now: () => number;
}

/** One upstream answer on its way into the store and to those who wait for it. */
export class Fill implements CacheFill {
  readonly #deps: FillDeps;
  readonly #subject: Subject;
  /** Undefined: nobody waits for this one. */
  readonly #lead: Lead | undefined;
  /** Called when the answer is stored. */
  onKept: (() => void) | undefined;
  #isOver = false;
  #isStreaming = false;

  constructor(deps: FillDeps, subject: Subject, lead: Lead | undefined) {
    this.#deps = deps;
    this.#subject = subject;
    this.#lead = lead;
  }

  keepBody(body: Buffer, contentType: string): void {
    const { endpoint } = this.#subject;
    if (jsonType.test(contentType) && isAnswer(endpoint, body))
      this.#keep('json', contentType, body);
    else this.#end();
  }

  keepStream(reply: StreamReply, wasWhole: () => boolean): StreamReply {
    const contentType = String(reply.headers['content-type'] ?? '');
    const isPlain = codingOf(reply.headers) === '';
    if (this.#isOver || reply.status !== 200 || !eventStreamType.test(contentType) || !isPlain) {
      this.#end();
      return reply;
    }
    this.#isStreaming = true;
    // Asked for JSON and answered with a stream: which of the two streams it is was not said.
    const form = this.#subject.form === 'json' ? 'stream' : this.#subject.form;
    const copy = new StreamCopy(this.#deps, (bytes) => {
      if (bytes !== undefined && wasWhole()) this.#keep(form, contentType, bytes);
      else this.#end();
    });
    return {
      kind: 'stream',
      status: reply.status,
      headers: reply.headers,
      pipeTo: (sink) => reply.pipeTo(new CopyingSink(sink, copy)),
      discard() {
        copy.drop();
        reply.discard();
      },
      wasWhole: () => reply.wasWhole(),
    };
  }

  /** An answer that is kept already serves: nothing is asked. */
  serve(delivery: Delivery): void {
    this.#isOver = true;
    this.#lead?.land(delivery);
  }

  release(): void {
    if (!this.#isStreaming) this.#end();
  }

  #keep(form: ReplyForm, contentType: string, body: Buffer): void {
    if (this.#isOver) return;
    const { store, objectBytesMax, now } = this.#deps;
    const { organisationId, key, endpoint, maxAgeMs } = this.#subject;
    if (body.length === 0 || body.length > objectBytesMax) {
      this.#end();
      return;
    }
    this.#isOver = true;
    const held = { form, contentType, storedAtMs: now(), body };
    store.set(organisationId, key, held, maxAgeMs);
    this.onKept?.();
    this.#lead?.land(deliver(endpoint, held, this.#subject.form));
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#lead?.land(undefined);
  }
}

const jsonType = /^application\/(?:[\w.+-]+\+)?json\b/i;
const eventStreamType = /^text\/event-stream\b/i;

/** Passes everything on first, and looks at it afterwards; the end is known before the caller sees it. */
class CopyingSink implements ReplySink {
  readonly #sink: ReplySink;
  readonly #copy: StreamCopy;

  constructor(sink: ReplySink, copy: StreamCopy) {
    this.#sink = sink;
    this.#copy = copy;
  }

  write(chunk: Buffer): boolean {
    const wantsMore = this.#sink.write(chunk);
    this.#copy.add(chunk);
    return wantsMore;
  }

  onDrain(listener: () => void): void {
    this.#sink.onDrain(listener);
  }

  end(): void {
    // Whoever asks again after the end finds the answer stored.
    this.#copy.end();
    this.#sink.end();
  }

  cut(code: Parameters<ReplySink['cut']>[0]): void {
    this.#copy.drop();
    this.#sink.cut(code);
  }
}

/** The bytes of a stream while they are few enough. `onOver` gets them once, or undefined. */
class StreamCopy {
  readonly #deps: FillDeps;
  readonly #onOver: (bytes: Buffer | undefined) => void;
  readonly #copied = new GrowingBytes();
  #isOver = false;

  constructor(deps: FillDeps, onOver: (bytes: Buffer | undefined) => void) {
    this.#deps = deps;
    this.#onOver = onOver;
  }

  add(chunk: Buffer): void {
    if (this.#isOver) return;
    const { copies, objectBytesMax } = this.#deps;
    if (
      this.#copied.length + chunk.length > objectBytesMax ||
      copies.bytes + chunk.length > copies.bytesMax
    ) {
      this.drop();
      return;
    }
    this.#copied.add(chunk);
    copies.bytes += chunk.length;
  }

  end(): void {
    if (this.#isOver) return;
    this.#deps.copies.bytes -= this.#copied.length;
    const bytes = this.#copied.take();
    this.#isOver = true;
    this.#onOver(bytes);
  }

  drop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#deps.copies.bytes -= this.#copied.length;
    this.#copied.clear();
    this.#onOver(undefined);
  }
}
