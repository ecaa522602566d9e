import { jobTokenLifeMs } from '@sluice/contracts';
import type { jobs } from '@sluice/proto-stubs';
import { callFault } from '@sluice/rpc';
import { Outage } from '@sluice/telemetry';
import { pause } from '../pause.ts';
import type { BatchEnd, BatchParts, RunLife } from './run-batch.ts';

export interface BatchJobsOptions {
  /** Of this replica. */
  readonly atOnce: number;
  /** ms between looks for batches; 0 = never. */
  readonly intervalMs: number;
  /** After so long without a word from a runner another one takes its batch up. */
  readonly leaseMs: number;
  /** What is run: batches, or responses in the background. */
  readonly kind: '' | 'response';
}

export interface BatchJobsParts extends Pick<BatchParts, 'register' | 'logger'> {
  readonly run: (claim: jobs.Claim, life: RunLife) => Promise<BatchEnd>;
  /** Once a minute, where anybody looks. */
  readonly sweep?: () => Promise<void>;
  readonly onEnded: (end: BatchEnd) => void;
}

/** About an hour, by the pauses below, of a batch that comes to nothing. */
const failuresMax = 60;
const pauseMsMax = 60_000;
const sweepEveryMs = 60_000;
const claimMsMax = 10_000;

/** Runs batches, some at a time, and empties the store of what nobody needs any more. */
export class BatchJobs {
  readonly #parts: BatchJobsParts;
  readonly #options: BatchJobsOptions;
  readonly #running = new Set<Promise<void>>();
  /** Of each that is run, until when it is held, in Unix ms. */
  readonly #holds = new Set<{ untilMs: number }>();
  readonly #leaving = new AbortController();
  readonly #cutting = new AbortController();
  #looking: Promise<void> | undefined;
  #sweptAtMs = 0;

  constructor(parts: BatchJobsParts, options: BatchJobsOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  get running(): number {
    return this.#running.size;
  }

  start(): void {
    if (this.#options.intervalMs > 0) this.#looking = this.#lookForever();
  }

  /** No more lines are begun. Those under way may end until shortly before the deadline; then they are somebody else's. */
  async drain(deadlineMs: number): Promise<void> {
    this.#leaving.abort();
    const timer = setTimeout(() => this.#cutting.abort(), Math.max(0, deadlineMs - 1_000));
    await Promise.all([this.#looking, ...this.#running]);
    clearTimeout(timer);
  }

  async #lookForever(): Promise<void> {
    const { kind } = this.#options;
    const outage = new Outage({
      logger: this.#parts.logger,
      away: 'batches cannot be looked for at the moment',
      back: 'batches are looked for again',
      facts: { kind: kind === '' ? 'batch' : kind },
    });
    while (!this.#leaving.signal.aborted) {
      try {
        await this.#look();
        outage.ends();
      } catch (error) {
        outage.explains(error);
      }
      await pause(this.#options.intervalMs, this.#leaving.signal);
    }
  }

  async #look(): Promise<void> {
    const { register } = this.#parts;
    const { kind } = this.#options;
    const leaseMs = BigInt(this.#options.leaseMs);
    const timeoutMs = Math.min(claimMsMax, this.#options.leaseMs / 2);
    while (this.#running.size < this.#options.atOnce && !this.#leaving.signal.aborted) {
      // What it runs itself it must hold while this is asked: behind a control plane that was away it would take that up once more, and
      // the provider would be called again.
      if ([...this.#holds].some(({ untilMs }) => untilMs - Date.now() < timeoutMs)) break;
      const asked = { leaseMs, kind };
      const { claim } = await register.ask(register.jobs.claimBatch, asked, { timeoutMs });
      if (claim === undefined) break;
      const run = this.#work(claim).finally(() => this.#running.delete(run));
      this.#running.add(run);
    }
    if (Date.now() - this.#sweptAtMs < sweepEveryMs) return;
    this.#sweptAtMs = Date.now();
    await this.#parts.sweep?.();
  }

  /** Never rejects. */
  async #work(claim: jobs.Claim): Promise<void> {
    const { logger, register, onEnded } = this.#parts;
    const { batch, run } = claim;
    const id = batch?.id ?? '';
    const facts = { batch: id, run };
    const hold = this.#hold(claim);
    try {
      logger.info(facts, 'a batch is run');
      const end = await this.#parts.run(claim, {
        ...hold.life,
        leave: this.#leaving.signal,
        cut: this.#cutting.signal,
      });
      onEnded(end);
      if (end === 'left' && !hold.life.lost.aborted)
        await register.ask(register.jobs.releaseBatch, { id, run });
      logger.info({ ...facts, end }, 'a run of a batch is over');
    } catch (error) {
      await this.#putAside(claim, error).catch((again: unknown) =>
        // Its lease ends by itself.
        logger.warn({ ...facts, ...callFault(again) }, 'a batch could not be given back'),
      );
    } finally {
      hold.end();
    }
  }

  /** Says again and again that the batch is worked at, and hears what became of it meanwhile. */
  #hold({ batch, run, token: first }: jobs.Claim) {
    const { register, logger } = this.#parts;
    const { leaseMs } = this.#options;
    const id = batch?.id ?? '';
    const lost = new AbortController();
    const cancelled = new AbortController();
    let token = first;
    let tokenUntilMs = Date.now() + jobTokenLifeMs;
    const held = { untilMs: Date.now() + leaseMs };
    this.#holds.add(held);
    lost.signal.addEventListener('abort', () => this.#holds.delete(held), { once: true });
    const timer = setInterval(
      async () => {
        const askedAtMs = Date.now();
        try {
          const answer = await register.ask(register.jobs.holdBatch, {
            id,
            run,
            leaseMs: BigInt(leaseMs),
          });
          if (!answer.isHeld) return lost.abort();
          if (answer.status === 'cancelling') cancelled.abort();
          token = answer.token;
          held.untilMs = askedAtMs + leaseMs;
          tokenUntilMs = askedAtMs + jobTokenLifeMs;
        } catch (error) {
          const fault = callFault(error);
          // Whoever looks for batches says that the control plane is away.
          const level = 'reason' in fault ? 'debug' : 'warn';
          logger[level]({ ...fault, batch: id }, 'a batch could not be held on to');
        }
      },
      Math.min(2_000, leaseMs / 3),
    );
    return {
      life: {
        lost: lost.signal,
        cancelled: cancelled.signal,
        token: () => token,
        mayBegin: () => Date.now() < Math.min(held.untilMs, tokenUntilMs - 5_000),
        lose: () => lost.abort(),
        cancel: () => cancelled.abort(),
      },
      end: () => {
        clearInterval(timer);
        this.#holds.delete(held);
      },
    };
  }

  async #putAside({ batch, run, failures }: jobs.Claim, error: unknown): Promise<void> {
    const { register, logger, onEnded } = this.#parts;
    const id = batch?.id ?? '';
    const facts = { batch: id, run, ...callFault(error) };
    if (failures + 1 >= failuresMax) {
      const message = 'It failed for a reason that the log of the data service tells.';
      const errors = [{ code: 'internal', message, param: null, line: null }];
      const end = { id, run, status: 'failed', errorsJson: JSON.stringify(errors) };
      await register.ask(register.jobs.endBatch, end);
      onEnded('failed');
      logger.error(facts, 'a batch failed');
      return;
    }
    const afterMs = Math.min(pauseMsMax, 500 * 2 ** failures);
    logger.warn({ ...facts, afterMs }, 'a batch goes on later');
    const release = { id, run, afterMs: BigInt(afterMs), failures: failures + 1 };
    await register.ask(register.jobs.releaseBatch, release);
  }
}
