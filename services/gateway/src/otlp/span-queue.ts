import { batchedBytes, writeSpan } from './span-batch.ts';

/** What became of a batch. */
export interface Exported {
  /** Of its spans; the others were refused, or the receiver was away for too long. */
  readonly taken: number;
  readonly isAway: boolean;
  /** Why the receiver took none; absent = it took the batch, but for those that it named. */
  readonly reason?: string;
}

/** Where batches go, one after the other. */
export interface BatchSender {
  /** Takes the memory of the batch with it; `onExported` is called once for each, in their order. */
  send(batch: Uint8Array<ArrayBuffer>, onExported: (exported: Exported) => void): void;
  /** Lets go of what is under way; nothing is heard of it any more. */
  stop(): Promise<void>;
}

export interface SpanQueueOptions {
  /** Of all that waits or is under way. */
  readonly bytesMax: number;
  /** Hears of each batch that reached the receiver, or did not. */
  readonly onExported?: (exported: Exported) => void;
}

/**
 * Spans on their way out. Whoever adds one waits for nothing: it is copied into
 * a batch, or dropped and counted where there is no room.
 */
export class SpanQueue {
  taken = 0;
  /** For want of room here. */
  dropped = 0;
  /** Refused by the receiver, or given up. */
  lost = 0;
  isAway = false;
  readonly #sender: BatchSender;
  readonly #bytesMax: number;
  readonly #onExported: ((exported: Exported) => void) | undefined;
  #batch: Uint8Array<ArrayBuffer> | undefined;
  #used = 0;
  #spans = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Bytes of memory, and spans, in batches that are under way. */
  #sentBytes = 0;
  #sentSpans = 0;
  #sentBatches = 0;
  #whenIdle: (() => void) | undefined;
  #isStopped = false;

  constructor(sender: BatchSender, { bytesMax, onExported }: SpanQueueOptions) {
    this.#sender = sender;
    this.#onExported = onExported;
    this.#bytesMax = bytesMax;
  }

  /** Bytes that are held. */
  get bytes(): number {
    return this.#sentBytes + (this.#batch?.length ?? 0);
  }

  add(record: Uint8Array, content?: Uint8Array): void {
    this.#add(record, content, false);
  }

  /** Of a record whose span is told by itself, as `RecordFollower` has it. */
  addLateHook(record: Uint8Array): void {
    this.#add(record, undefined, true);
  }

  #add(record: Uint8Array, content: Uint8Array | undefined, isLateHook: boolean): void {
    const bytes = batchedBytes(record, content);
    if (this.#batch !== undefined && this.#used + bytes > this.#batch.length) this.#flush();
    if (this.#batch === undefined) {
      const room = Math.max(bytes, batchBytes);
      if (this.#isStopped || this.#sentBytes + room > this.#bytesMax) {
        this.dropped++;
        return;
      }
      this.#batch = new Uint8Array(room);
    }
    this.#used = writeSpan(this.#batch, this.#used, record, content, isLateHook);
    this.#spans++;
    if (this.#spans >= spansMax) this.#flush();
    else if (this.#sentBatches < atOnce) this.#timer ??= setTimeout(this.#flushSoon, lingerMs);
  }

  /** Sends what there is, for at most so long; what is left is lost, and counted. */
  async stop(deadlineMs: number): Promise<void> {
    this.#flush();
    this.#isStopped = true;
    if (this.#sentBatches > 0) {
      const { promise: idle, resolve } = Promise.withResolvers<void>();
      this.#whenIdle = resolve;
      const timer = setTimeout(resolve, deadlineMs);
      await idle;
      clearTimeout(timer);
    }
    this.lost += this.#sentSpans;
    this.#sentSpans = 0;
    await this.#sender.stop();
  }

  readonly #flushSoon = () => this.#flush();

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#batch === undefined) return;
    const { length } = this.#batch;
    const spans = this.#spans;
    const batch = this.#batch.subarray(0, this.#used);
    this.#batch = undefined;
    this.#used = 0;
    this.#spans = 0;
    this.#sentBytes += length;
    this.#sentSpans += spans;
    this.#sentBatches++;
    this.#sender.send(batch, (exported) => {
      const { taken, isAway } = exported;
      this.#sentBytes -= length;
      this.#sentSpans -= spans;
      this.#sentBatches--;
      this.taken += taken;
      this.lost += spans - taken;
      this.isAway = isAway;
      this.#onExported?.(exported);
      // It has waited for its turn.
      if (this.#sentBatches < atOnce) this.#flush();
      if (this.#sentBatches === 0) this.#whenIdle?.();
    });
  }
}

/** Memory of a batch, unless one span needs more. */
const batchBytes = 64 * 1024;
const spansMax = 512;
/** So long the first of a batch waits for others; while so many are under way a batch waits until it is full. */
const lingerMs = 100;
const atOnce = 2;
