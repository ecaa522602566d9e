import type { Logger } from '@sluice/telemetry';
import type { Outbox, OutboxBatch } from './outbox.ts';

/** Where batches go. `send` resolves once the ledger's side has them for good. */
export interface UsageSink {
  readonly name: string;
  send(batch: OutboxBatch): Promise<void>;
  close(): Promise<void>;
}

export interface PublisherOptions {
  outbox: Outbox;
  sink: UsageSink;
  logger: Logger;
  /** Records in one batch. */
  batchMax: number;
  /** How long the first record of a batch waits for company. */
  lingerMs: number;
}

/**
 * Moves records from the outbox to the ledger, in order, one batch at a time.
 * A failed batch is tried again for ever, with growing pauses: the outbox keeps
 * the rest.
 */
export class UsagePublisher {
  readonly #options: PublisherOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopping = false;
  #stopped = false;
  #failures = 0;
  #cursorSavedAt = 0;
  /** When the ledger last took a batch, Unix ms; 0 = never. */
  lastAcknowledgedAtMs = 0;

  constructor(options: PublisherOptions) {
    this.#options = options;
    options.outbox.onRecord(() => this.#schedule(options.lingerMs));
  }

  start(): void {
    this.#schedule(0);
  }

  get failing(): boolean {
    return this.#failures > 0;
  }

  /** Sends what is left, for at most `deadlineMs`; the rest waits on disk for the next start. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const deadline = new Deadline(deadlineMs);
    // A batch that is still on its way uses the outbox's memory: no second one beside it.
    const inTime = await deadline.allows(this.#running ?? Promise.resolve());
    if (inTime && this.#failures === 0) await deadline.allows(this.#drain());
    this.#stopped = true;
    deadline.clear();
    const closing = new Deadline(closeTimeoutMs);
    await closing.allows(this.#options.sink.close());
    closing.clear();
    this.#options.outbox.saveCursor();
  }

  #schedule(delayMs: number): void {
    if (this.#stopping || this.#timer !== undefined || this.#running !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#running = this.#drain().finally(() => {
        this.#running = undefined;
        if (this.#failures > 0)
          this.#schedule(Math.min(5000, 100 * 2 ** Math.min(this.#failures, 6)));
        else if (this.#options.outbox.hasMore) this.#schedule(this.#options.lingerMs);
      });
    }, delayMs);
  }

  /** Until the outbox is empty or a batch fails. Never rejects. */
  async #drain(): Promise<void> {
    const { outbox, sink, logger, batchMax } = this.#options;
    try {
      for (
        let batch = outbox.read(batchMax);
        batch !== undefined && !this.#stopped;
        batch = outbox.read(batchMax)
      ) {
        await sink.send(batch);
        outbox.acknowledge(batch.next);
        this.lastAcknowledgedAtMs = Date.now();
        if (this.#failures > 0) logger.info({ sink: sink.name }, 'usage records flow again');
        this.#failures = 0;
        if (this.lastAcknowledgedAtMs - this.#cursorSavedAt > 500) {
          outbox.saveCursor();
          this.#cursorSavedAt = this.lastAcknowledgedAtMs;
        }
        if (batch.records.length < batchMax) return;
      }
    } catch (error) {
      this.#failures++;
      if (this.#failures === 1)
        logger.warn({ sink: sink.name, err: error }, 'usage records wait in the outbox');
    }
  }
}

const closeTimeoutMs = 1000;

class Deadline {
  readonly #timer: NodeJS.Timeout;
  readonly #over: Promise<false>;

  constructor(ms: number) {
    const { promise, resolve } = Promise.withResolvers<false>();
    this.#over = promise;
    this.#timer = setTimeout(resolve, ms, false);
  }

  /** Whether the work ended, one way or the other, in time. */
  allows(work: Promise<unknown>): Promise<boolean> {
    const ended = work.then(
      () => true,
      () => true,
    );
    return Promise.race([ended, this.#over]);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}
