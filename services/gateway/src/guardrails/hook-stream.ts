import { type CalledId, operations } from '@sluice/contracts';
import { type HeardStream, type JsonObject, listenTo } from '@sluice/providers';
import type { Logger } from '@sluice/telemetry';
import type { ReplySink, StreamReply } from '../exchange/reply.ts';
import { withDeadline } from './deadline.ts';

export interface HookItemOptions {
  readonly endpoint: CalledId;
  /** Hears when the end of a stream could not wait for its hooks. */
  readonly logger?: Logger;
  /** Goes before the upstream's bytes. */
  readonly first?: Buffer;
  /**
   * Called once, when the stream is over, with the text of the first choice.
   * `wasWhole` is false when the stream broke off or its text was beyond the
   * cap; `response` says the same as a body. The item it resolves with follows
   * the terminal event; when it returns undefined at once, the stream is not
   * kept open.
   */
  readonly onEnd?: (
    text: string,
    wasWhole: boolean,
    response: JsonObject,
  ) => Promise<Buffer | undefined> | undefined;
  /** Text beyond this is not kept. */
  readonly collectBytesMax: number;
  /** How long the end of the stream waits for `onEnd`. */
  readonly endDeadlineMs?: number;
}

/** Adds the items of hooks to a stream, whose own bytes pass untouched and at the caller's pace. */
export function withHookItems(reply: StreamReply, options: HookItemOptions): StreamReply {
  const { first, onEnd } = options;
  if (first === undefined && onEnd === undefined) return reply;
  // A length was the upstream's; with items it would be wrong.
  const { 'content-length': _length, ...headers } = reply.headers;
  return {
    kind: 'stream',
    status: reply.status,
    headers,
    discard: () => reply.discard(),
    wasWhole: () => reply.wasWhole(),
    pipeTo(sink) {
      if (first !== undefined) sink.write(first);
      const { format } = operations[options.endpoint];
      const heard = onEnd === undefined ? undefined : listenTo(format, options.collectBytesMax);
      reply.pipeTo(
        heard === undefined || onEnd === undefined
          ? sink
          : new ListeningSink(sink, options, onEnd, heard),
      );
    },
  };
}

/** Hears what is written through it, and has the last word. */
class ListeningSink implements ReplySink {
  readonly #sink: ReplySink;
  readonly #options: HookItemOptions;
  readonly #onEnd: NonNullable<HookItemOptions['onEnd']>;
  readonly #heard: HeardStream;
  #isOver = false;

  constructor(
    sink: ReplySink,
    options: HookItemOptions,
    onEnd: NonNullable<HookItemOptions['onEnd']>,
    heard: HeardStream,
  ) {
    this.#sink = sink;
    this.#options = options;
    this.#onEnd = onEnd;
    this.#heard = heard;
  }

  write(chunk: Buffer): boolean {
    const wantsMore = this.#sink.write(chunk);
    this.#heard.push(chunk);
    return wantsMore;
  }

  onDrain(listener: () => void): void {
    this.#sink.onDrain(listener);
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const separator = this.#heard.end();
    const pending = this.#ask();
    if (pending === undefined) {
      this.#sink.end();
      return;
    }
    const { endDeadlineMs = 10_000, logger } = this.#options;
    withDeadline(pending, endDeadlineMs, () => new Error('output hooks took too long'))
      .catch((error: unknown) => {
        logger?.warn({ err: error }, 'a stream ended without the results of its hooks');
        return undefined;
      })
      .then((item) => {
        // After an error event, or nothing, an item would look like the stream's good end.
        if (item !== undefined && this.#heard.sawEnd)
          this.#sink.write(separator === '' ? item : Buffer.concat([Buffer.from(separator), item]));
        this.#sink.end();
      });
  }

  /** Nothing can follow, but the hooks still hear what there was. */
  cut(code: Parameters<ReplySink['cut']>[0]): void {
    this.#sink.cut(code);
    if (this.#isOver) return;
    this.#isOver = true;
    this.#heard.end();
    this.#ask()?.catch((error: unknown) =>
      this.#options.logger?.warn({ err: error }, 'the hooks of a broken stream failed'),
    );
  }

  #ask(): Promise<Buffer | undefined> | undefined {
    const heard = this.#heard;
    try {
      return this.#onEnd(heard.text, heard.isWhole, heard.reply());
    } catch (error) {
      return Promise.reject(error);
    }
  }
}
