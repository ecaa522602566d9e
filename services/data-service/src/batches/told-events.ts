import type { Logger } from '@sluice/telemetry';
import type { EventParts } from '../files/event-parts.ts';
import { errorIn, jsonIn, type ToldError } from '../through-gateway/answers.ts';

const flushMs = 150;
/** Before an object is written for them at once. */
const bytesMax = 1024 * 1024;
const eventEnd = '\n\n';

/** Keeps the events of one run as they come, whole ones only, some at a time. */
export class ToldEvents {
  readonly #parts: EventParts;
  readonly #of: { readonly id: string; readonly dataKey: Buffer };
  readonly #logger: Logger;
  #rest = Buffer.alloc(0);
  #next = 0;
  #timer: NodeJS.Timeout | undefined;
  #last = '';
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: EventParts, of: { id: string; dataKey: Buffer }, logger: Logger) {
    this.#parts = parts;
    this.#of = of;
    this.#logger = logger;
  }

  /** Somebody may have heard of what was answered: it cannot be answered again. */
  get hasTold(): boolean {
    return this.#next > 0;
  }

  /** What the last event says went wrong, where it is one of errors: nothing follows it. Known once all are kept. */
  get fault(): ToldError | undefined {
    const data = /^data: (.*)$/m.exec(this.#last)?.[1];
    const event = data === undefined ? undefined : jsonIn(Buffer.from(data));
    if (typeof event !== 'object' || event === null) return undefined;
    const { type, error = event } = event as { type?: unknown; error?: unknown };
    return type === 'error' ? errorIn({ error }) : undefined;
  }

  add(piece: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, piece]);
    if (this.#rest.length >= bytesMax) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), flushMs);
  }

  /** All are kept, or the log says why not. */
  async end(): Promise<void> {
    this.#flush();
    await this.#writing;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const at = this.#rest.lastIndexOf(eventEnd);
    if (at < 0) return;
    const events = this.#rest.subarray(0, at + eventEnd.length);
    this.#rest = Buffer.from(this.#rest.subarray(events.length));
    this.#last = lastOf(events);
    const index = this.#next;
    this.#next += 1;
    const { id, dataKey } = this.#of;
    this.#writing = this.#writing
      .then(() => this.#parts.put(id, dataKey, index, events))
      .catch((err: unknown) =>
        this.#logger.warn({ err, response: id }, 'events of a response in the background are lost'),
      );
  }
}

/** An error's event is short; of longer ones the beginning may be missing, and no error is found. */
const lastBytesMax = 16 * 1024;

function lastOf(events: Buffer): string {
  const text = events.subarray(-lastBytesMax).toString().trimEnd();
  return text.slice(text.lastIndexOf(eventEnd) + 1);
}
