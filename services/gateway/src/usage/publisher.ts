import type { Logger } from '@sluice/telemetry';
import type { Life } from './life.ts';
import type { Outbox } from './outbox.ts';
import type { OutboxPosition } from './segment-reader.ts';

export interface UsageBatch {
  /** The same for the same entries of a life, should they be sent again. */
  id: string;
  /** Entries as they travel; valid until the promise of `send` ends. */
  records: Uint8Array[];
}

/** Where batches go. `send` resolves once the ledger's side has them for good. */
export interface UsageSink {
  readonly name: string;
  /** Where it sends to, for the log; no credentials. */
  readonly address: string;
  send(batch: UsageBatch): Promise<void>;
  close(): Promise<void>;
}

export interface PublisherOptions {
  outbox: Outbox;
  life: Pick<Life, 'write' | 'sentTo' | 'tell' | 'told'>;
  sink: UsageSink;
  logger: Logger;
  /** Records in one batch. */
  batchMax: number;
  /** How long the first record of a batch waits for company. */
  lingerMs: number;
  /** How often the ledger hears of this replica when there is nothing to send. */
  aliveEveryMs: number;
}

/**
 * Moves records from the outbox to the ledger, in order, one batch at a time.
 * A failed batch is tried again for ever, with growing pauses: the outbox keeps
 * the rest.
 */
export class UsagePublisher {
  readonly #options: PublisherOptions;
  #timer: NodeJS.Timeout | undefined;
  #aliveTimer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopping = false;
  #stopped = false;
  #failures = 0;
  #failingSinceMs = 0;
  /** By `performance.now()`: whoever sets the time of day back delays nothing. */
  #cursorSavedAt = 0;
  #acknowledgedAt = Number.NEGATIVE_INFINITY;
  /** Of the oldest record that the ledger does not have, Unix ms; 0 = it has all. */
  oldestUnsentAtMs = 0;

  constructor(options: PublisherOptions) {
    this.#options = options;
    options.outbox.onRecord(() => this.#schedule(options.lingerMs));
  }

  start(): void {
    const { aliveEveryMs } = this.#options;
    this.#schedule(0);
    this.#aliveTimer = setInterval(() => {
      if (this.#isSilent) this.#schedule(0);
    }, aliveEveryMs);
    this.#aliveTimer.unref();
  }

  /** The ledger has heard nothing for as long as it may. */
  get #isSilent(): boolean {
    return performance.now() - this.#acknowledgedAt >= this.#options.aliveEveryMs;
  }

  get failing(): boolean {
    return this.#failures > 0;
  }

  /** Sends what is left, for at most `deadlineMs`; the rest waits on disk for the next start. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    clearInterval(this.#aliveTimer);
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
      this.#running = this.#drain().finally(() => {
        this.#running = undefined;
        if (this.#failures > 0)
          this.#schedule(Math.min(5000, 100 * 2 ** Math.min(this.#failures, 6)));
        else if (this.#options.outbox.hasMore) this.#schedule(this.#options.lingerMs);
      });
      // Only now: what is written while the batch is cut must not ask for another beside it.
      this.#timer = undefined;
    }, delayMs);
  }

  async #send(id: string, records: Uint8Array[]): Promise<void> {
    const { life, logger, sink } = this.#options;
    // What is only told of this replica is new each time.
    const name = records.length > 0 ? id : `${id}:${Date.now()}`;
    const batch = { id: name, records: [...records, life.tell()] };
    await sink.send(batch).catch((error: unknown) => {
      throw new NotTaken(error);
    });
    life.told();
    this.#acknowledgedAt = performance.now();
    if (this.#failures > 0) {
      const awayMs = Math.round(performance.now() - this.#failingSinceMs);
      const there = { sink: sink.name, address: sink.address };
      logger.info({ ...there, away_ms: awayMs }, 'usage records flow again');
    }
    this.#failures = 0;
  }

  /** Until the outbox is empty or a batch fails. Never rejects. */
  async #drain(): Promise<void> {
    const { outbox, life, logger, sink, batchMax } = this.#options;
    try {
      while (!this.#stopped) {
        const completeTo = life.write();
        const { head } = outbox;
        const batch = outbox.read(batchMax);
        if (batch === undefined) {
          this.oldestUnsentAtMs = 0;
          life.sentTo(completeTo);
          if (this.#isSilent) await this.#send('alive', []);
          return;
        }
        const { from, next, records, firstAtMs } = batch;
        this.oldestUnsentAtMs = firstAtMs;
        await this.#send(`${from.segment}:${from.offset}:${next.offset}`, records);
        outbox.acknowledge(next);
        if (this.#acknowledgedAt - this.#cursorSavedAt > 500) {
          outbox.saveCursor();
          this.#cursorSavedAt = this.#acknowledgedAt;
        }
        // A batch may be short because its bytes are many: only its place says that all was sent.
        if (isAtLeast(next, head)) {
          this.oldestUnsentAtMs = 0;
          life.sentTo(completeTo);
          return;
        }
      }
    } catch (error) {
      this.#failures++;
      if (this.#failures > 1) return;
      this.#failingSinceMs = performance.now();
      // What the other side does has a reason; only what is ours has a stack.
      const why = error instanceof NotTaken ? { reason: error.message } : { err: error };
      logger.warn(
        { sink: sink.name, address: sink.address, ...why },
        'usage records wait in the outbox',
      );
    }
  }
}

/** The ledger's side did not take a batch. */
class NotTaken extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function isAtLeast(reached: OutboxPosition, place: OutboxPosition): boolean {
  return (
    reached.segment > place.segment ||
    (reached.segment === place.segment && reached.offset >= place.offset)
  );
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
