import { GatewayError } from '@sluice/errors';
import { pause } from '../pause.ts';

export interface BatcherOptions<T, Batch> {
  /** Makes of items what is inserted, right before it is. */
  prepare: (items: T[]) => Batch;
  /** Stores a batch; may be called again with one that it stored before. */
  insert: (batch: Batch) => Promise<void>;
  /** An insert holds about as many: whole entries are added until it is reached. */
  itemsMax: number;
  /** The longest an item waits for others. */
  intervalMs: number;
  /** Items held at most, waiting or being inserted. */
  queueMax: number;
  retryMinMs: number;
  retryMaxMs: number;
  onFailure?: (error: unknown, items: number) => void;
}

/** Merges what concurrent callers bring into few inserts. Nothing is dropped: a caller is told, and keeps its copy. */
export interface Batcher<T> {
  /**
   * Resolves after the insert that holds all the items. Rejects when the queue
   * is full, when `signal` fires before their insert began, or at `close`.
   */
  add(items: readonly T[], signal?: AbortSignal): Promise<void>;
  /** Items waiting or being inserted. */
  readonly size: number;
  /** Inserts what waits, and gives up on the rest after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

interface Entry<T> {
  items: readonly T[];
  resolve: () => void;
  reject: (error: unknown) => void;
}

export function createBatcher<T, Batch>(options: BatcherOptions<T, Batch>): Batcher<T> {
  const waiting: Entry<T>[] = [];
  let waitingItems = 0;
  let insertingItems = 0;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let closing = false;
  const giveUp = new AbortController();

  /** One insert at a time: the next batch grows while the last one is written. */
  function schedule(): void {
    if (running !== undefined || waiting.length === 0) return;
    if (closing || waitingItems >= options.itemsMax) start();
    else timer ??= setTimeout(start, options.intervalMs);
  }

  function start(): void {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return;
    running ??= insertNext().finally(() => {
      running = undefined;
      schedule();
    });
  }

  async function insertNext(): Promise<void> {
    const batch = takeBatch();
    const items = batch.flatMap((entry) => entry.items);
    insertingItems = items.length;
    try {
      await insertUntilStored(items);
      for (const entry of batch) entry.resolve();
    } catch (error) {
      for (const entry of batch) entry.reject(error);
    } finally {
      insertingItems = 0;
    }
  }

  function takeBatch(): Entry<T>[] {
    let count = 0;
    let taken = 0;
    while (taken < waiting.length && count < options.itemsMax) {
      count += waiting[taken]!.items.length;
      taken += 1;
    }
    waitingItems -= count;
    return waiting.splice(0, taken);
  }

  async function insertUntilStored(items: T[]): Promise<void> {
    const prepared = options.prepare(items);
    let waitMs = options.retryMinMs;
    for (;;) {
      giveUp.signal.throwIfAborted();
      try {
        return await options.insert(prepared);
      } catch (error) {
        options.onFailure?.(error, items.length);
        // An abort ends the pause early; the loop's head then throws the reason.
        await pause(waitMs, giveUp.signal);
        waitMs = Math.min(waitMs * 2, options.retryMaxMs);
      }
    }
  }

  function enqueue(items: readonly T[], signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const entry: Entry<T> = { items, resolve, reject };
      // The caller left and will bring the items again: waiting copies would only fill the queue.
      const leave = () => {
        const place = waiting.indexOf(entry);
        if (place < 0) return;
        waiting.splice(place, 1);
        waitingItems -= items.length;
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      waiting.push(entry);
      waitingItems += items.length;
      schedule();
    });
  }

  return {
    get size() {
      return waitingItems + insertingItems;
    },
    async add(items, signal) {
      if (items.length === 0) return;
      signal?.throwIfAborted();
      if (closing) throw new GatewayError('gateway.draining');
      // What is larger than the whole queue is let in when it is alone, or it could never be stored.
      const held = waitingItems + insertingItems;
      if (held > 0 && held + items.length > options.queueMax)
        throw new GatewayError('gateway.ledger_full');
      await enqueue(items, signal);
    },
    async close(graceMs) {
      closing = true;
      const expired = new Promise<void>((resolve) =>
        giveUp.signal.addEventListener('abort', () => resolve(), { once: true }),
      );
      const timeout = setTimeout(() => giveUp.abort(new GatewayError('gateway.draining')), graceMs);
      schedule();
      while (running !== undefined && !giveUp.signal.aborted)
        await Promise.race([running, expired]);
      clearTimeout(timeout);
      clearTimeout(timer);
      for (const entry of waiting.splice(0)) entry.reject(giveUp.signal.reason);
      waitingItems = 0;
    },
  };
}
