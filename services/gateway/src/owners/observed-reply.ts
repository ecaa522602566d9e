import type { ErrorCode } from '@sluice/errors';
import { GrowingBytes, ShortTexts } from '@sluice/json';
import type { Reply, ReplySink, StreamReply } from '../exchange/reply.ts';
import { codingOf, unpack } from '../http/content-coding.ts';
import { DocumentsInStream, documentOf, readBytesMax } from './ids-in-reply.ts';

/** Hears of the documents that a reply tells; its promise is waited for before the reply ends. Never rejects. */
export type OnDocument = (document: Record<string, unknown>) => Promise<unknown> | undefined;

/** Whether a document of these bytes may be one that is heard of: any other is not read. */
export type Concerns = (bytes: Buffer) => boolean;

/**
 * A reply whose documents somebody hears of before the caller has all of it, so
 * that what is asked right behind it finds what was noted. Its bytes are those
 * that came. One in a piece is held until then; events go on as they come, and
 * only the end of the stream waits.
 */
export function observedReply(
  reply: Reply,
  onDocument: OnDocument,
  concerns: Concerns,
): Reply | Promise<Reply> {
  if (reply.kind === 'stream') return observedStream(reply, onDocument, concerns);
  const noted = observe(reply.body, codingOf(reply.headers), onDocument, concerns);
  return noted === undefined ? reply : noted.then(() => reply);
}

/** Of a reply that came compressed a copy is unpacked; what that cannot be done with tells no document. */
function observe(
  bytes: Buffer,
  coding: string,
  onDocument: OnDocument,
  concerns: Concerns,
): Promise<unknown> | undefined {
  if (coding !== '')
    return unpack(bytes, coding, readBytesMax).then(
      (plain) => observe(plain, '', onDocument, concerns),
      () => undefined,
    );
  const document = concerns(bytes) ? documentOf(bytes) : undefined;
  return document === undefined ? undefined : onDocument(document);
}

function observedStream(
  reply: StreamReply,
  onDocument: OnDocument,
  concerns: Concerns,
): StreamReply {
  const isEvents = /^text\/event-stream\b/i.test(String(reply.headers['content-type']));
  const coding = codingOf(reply.headers);
  if (isEvents && coding !== '') return reply;
  return {
    ...reply,
    pipeTo: (sink) =>
      reply.pipeTo(
        isEvents
          ? new EventsSink(sink, onDocument)
          : new HoldingSink(sink, (bytes) => observe(bytes, coding, onDocument, concerns)),
      ),
  };
}

class EventsSink implements ReplySink {
  readonly #sink: ReplySink;
  readonly #onDocument: OnDocument;
  readonly #documents = new DocumentsInStream();
  readonly #noting: Promise<unknown>[] = [];

  constructor(sink: ReplySink, onDocument: OnDocument) {
    this.#sink = sink;
    this.#onDocument = onDocument;
  }

  write(chunk: Buffer): boolean {
    for (const document of this.#documents.push(chunk)) {
      const noted = this.#onDocument(document);
      if (noted !== undefined) this.#noting.push(noted);
    }
    return this.#sink.write(chunk);
  }

  onDrain(listener: () => void): void {
    this.#sink.onDrain(listener);
  }

  end(): void {
    if (this.#noting.length === 0) this.#sink.end();
    else void Promise.all(this.#noting).then(() => this.#sink.end());
  }

  cut(code: ErrorCode): void {
    this.#sink.cut(code);
  }
}

class HoldingSink implements ReplySink {
  readonly #sink: ReplySink;
  readonly #onBytes: (bytes: Buffer) => Promise<unknown> | undefined;
  #held: GrowingBytes | undefined = new GrowingBytes();
  /** Of a reply that is too large to be held, and passes: what it says without its long texts, pictures above all. */
  #short: { readonly texts: ShortTexts; readonly held: GrowingBytes } | undefined;

  constructor(sink: ReplySink, onBytes: (bytes: Buffer) => Promise<unknown> | undefined) {
    this.#sink = sink;
    this.#onBytes = onBytes;
  }

  write(chunk: Buffer): boolean {
    const held = this.#held;
    if (held === undefined) {
      this.#shorten(chunk);
      return this.#sink.write(chunk);
    }
    held.add(chunk);
    if (held.length <= readBytesMax) return true;
    this.#held = undefined;
    const passing = held.take();
    this.#short = { texts: new ShortTexts(), held: new GrowingBytes() };
    this.#shorten(passing);
    return this.#sink.write(passing);
  }

  #shorten(chunk: Buffer): void {
    if (this.#short === undefined) return;
    const { texts, held } = this.#short;
    texts.add(chunk, held);
    if (held.length > readBytesMax) this.#short = undefined;
  }

  onDrain(listener: () => void): void {
    this.#sink.onDrain(listener);
  }

  end(): void {
    const bytes = this.#held?.take();
    const told = bytes ?? this.#short?.held.take();
    const noted = told && this.#onBytes(told);
    const pass = () => {
      if (bytes !== undefined && bytes.length > 0) this.#sink.write(bytes);
      this.#sink.end();
    };
    if (noted === undefined) pass();
    else void noted.then(pass);
  }

  cut(code: ErrorCode): void {
    const bytes = this.#held?.take();
    if (bytes !== undefined && bytes.length > 0) this.#sink.write(bytes);
    this.#sink.cut(code);
  }
}
