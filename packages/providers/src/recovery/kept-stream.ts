import { GrowingBytes } from '@sluice/json';
import type { StreamReader } from '../contract.ts';
import { endOfLastEvent } from '../framing/sse.ts';
import { empty } from '../framing/stream-tap.ts';
import { WrappedStreamReader } from '../translation/wrapped-stream.ts';

/**
 * Passes a native stream on by whole events and keeps them, unread: should it
 * be cut, they tell what the caller has got, and that ends between two events.
 * What came with the event that ends it in an error is held: others may go on.
 */
export class KeptStreamReader extends WrappedStreamReader {
  /** Counts bytes that are held until the request is over; false = they must not be. */
  readonly #hold: (bytes: number) => boolean;
  readonly #kept = new GrowingBytes();
  /** The event that is not whole yet. */
  readonly #rest = new GrowingBytes();
  #isKept = true;

  constructor(reader: StreamReader, hold: (bytes: number) => boolean) {
    super(reader);
    this.#hold = hold;
  }

  push(chunk: Buffer): Buffer {
    const bytes = this.inner.push(chunk);
    if (!this.#isKept) return bytes;
    if (this.phase === 'failed') {
      this.#rest.add(bytes);
      return empty;
    }
    if (this.phase === 'complete' || this.#kept.length + this.#rest.length + bytes.length > keptMax)
      return this.#letGo(bytes);
    this.#rest.add(bytes);
    const joined = this.#rest.take();
    const end = endOfLastEvent(joined);
    if (end < joined.length) this.#rest.add(joined.subarray(end));
    if (end === 0) return empty;
    const whole = joined.subarray(0, end);
    if (!this.#hold(whole.length)) return this.#letGo(empty, whole);
    this.#kept.add(whole);
    return whole;
  }

  /** Of what was cut within an event the caller gets the whole events alone. */
  end(): Buffer {
    const bytes = this.inner.end();
    return this.#isKept && this.phase === 'complete' ? this.#letGo(bytes) : bytes;
  }

  /** All that was passed on, and what came after it and was not; undefined = it was too much to keep. */
  takeKept(): { passed: Buffer; held: Buffer } | undefined {
    return this.#isKept ? { passed: this.#kept.take(), held: this.#rest.take() } : undefined;
  }

  /** From here on nothing is kept: the stream is over, or too large. */
  #letGo(bytes: Buffer, before: Buffer = empty): Buffer {
    this.#isKept = false;
    this.#kept.clear();
    return Buffer.concat([before, this.#rest.take(), bytes]);
  }
}

/** All of it is read at once when it is cut, while others wait. */
const keptMax = 2 * 1024 * 1024;
