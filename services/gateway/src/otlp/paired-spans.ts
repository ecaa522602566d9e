import { uuidText } from '@sluice/usage';
import type { ContentTaker } from '../content/content-taker.ts';
import type { KeptContent } from '../content/kept-content.ts';
import { EncodedLog, type HeaderRules } from '../content/segment.ts';
import type { StoredRecord } from '../usage/stored-record.ts';
import type { SpanQueue } from './span-queue.ts';

interface Half {
  /** Of the last attempt so far. */
  record: Buffer | undefined;
  content: KeptContent | undefined;
  readonly sinceMs: number;
}

/**
 * Joins what requests leave in two places at about the same time: the record of an
 * attempt and the content of the target it belongs to. What stays alone is told
 * alone; a content without a record is nothing.
 */
export class PairedSpans implements ContentTaker {
  readonly #queue: SpanQueue;
  readonly #headers: HeaderRules;
  /** By the id of the target's first record, oldest first. */
  readonly #halves = new Map<string, Half>();
  #timer: NodeJS.Timeout | undefined;

  constructor(queue: SpanQueue, headers: HeaderRules) {
    this.#queue = queue;
    this.#headers = headers;
  }

  addRecord({ id, entryId }: StoredRecord, bytes: Buffer): void {
    const key = uuidText(entryId.length > 0 ? entryId : id);
    const half = this.#halfOf(key);
    // Of retries the last one has the answer.
    if (half.record !== undefined) this.#queue.add(half.record);
    half.record = Buffer.from(bytes);
    this.#join(key, half);
  }

  addLateHook(bytes: Uint8Array): void {
    this.#queue.addLateHook(bytes);
  }

  add(content: KeptContent): void {
    const key = content.head.logId;
    const half = this.#halfOf(key);
    half.content?.release();
    half.content = content;
    this.#join(key, half);
  }

  dropOldest(): boolean {
    for (const half of this.#halves.values()) {
      if (half.content === undefined) continue;
      half.content.release();
      half.content = undefined;
      return true;
    }
    return false;
  }

  /** Those that are alone are so for good. */
  flush(): void {
    for (const key of this.#halves.keys()) this.#part(key);
  }

  #halfOf(key: string): Half {
    let half = this.#halves.get(key);
    if (half === undefined) {
      half = { record: undefined, content: undefined, sinceMs: performance.now() };
      this.#halves.set(key, half);
      this.#timer ??= setTimeout(this.#sweep, waitMs).unref();
      if (this.#halves.size > halvesMax) this.#partOldest();
    }
    return half;
  }

  #join(key: string, { record, content }: Half): void {
    if (record !== undefined && content !== undefined) this.#part(key);
  }

  #part(key: string): void {
    const half = this.#halves.get(key);
    this.#halves.delete(key);
    const { record, content } = half ?? {};
    if (record !== undefined)
      this.#queue.add(
        record,
        content === undefined ? undefined : new EncodedLog(content, this.#headers).toBuffer(),
      );
    content?.release();
  }

  #partOldest(): void {
    const { value: key } = this.#halves.keys().next();
    if (key !== undefined) this.#part(key);
  }

  readonly #sweep = () => {
    this.#timer = undefined;
    const before = performance.now() - waitMs;
    for (const [key, { sinceMs }] of this.#halves) {
      if (sinceMs > before) {
        this.#timer = setTimeout(this.#sweep, waitMs).unref();
        return;
      }
      this.#part(key);
    }
  };
}

/** The one follows the other within a turn or two of the loop. */
const waitMs = 1_000;
const halvesMax = 2_000;
