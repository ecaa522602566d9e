import { GatewayError } from '@sluice/errors';
import { eachPastRefusals, StoreError } from '@sluice/object-store';
import type { Logger } from '@sluice/telemetry';
import { repeat } from '../../kernel/database/repeat.ts';
import {
  type Claim,
  claimLogExport,
  endLogExport,
  holdLogExport,
  listObsoleteExports,
  noteEmptied,
  releaseLogExport,
} from './claims.ts';
import type { ExportMetrics } from './metrics.ts';
import { deleteParts, exportFolder } from './part-keys.ts';
import { ExportLost, type ExportParts, ExportRefused, runExport } from './run-export.ts';

export interface ExportJobsOptions {
  /** Of this replica. */
  readonly atOnce: number;
  /** ms between looks for exports that were started; 0 = never. */
  readonly intervalMs: number;
  /** After so long without a word from a worker another one takes its export up. */
  readonly leaseMs: number;
  /** How long files can be fetched. */
  readonly keptMs: number;
}

/** About a quarter of an hour, by the pauses below. */
const failuresMax = 20;
const pauseMaxMs = 60_000;
const sweepEveryMs = 60_000;
const sweptAtOnce = 20;
/** A cancelled export ends within this, or sooner where leases are short. */
const heartbeatMaxMs = 2_000;

type Parts = Omit<ExportParts, 'onRows'> & {
  readonly metrics: ExportMetrics;
  readonly logger: Logger;
};

/** Runs exports that were started, some at a time, and empties the store of what nobody needs. */
export class ExportJobs {
  readonly #parts: Parts;
  readonly #options: ExportJobsOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #leaving = new AbortController();
  #looking: { stop(): Promise<void> } | undefined;
  /** The last that was looked at; undefined = the next sweep begins with the first. */
  #sweptTo: string | undefined;
  #sweptAtMs = 0;

  constructor(parts: Parts, options: ExportJobsOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  start(): void {
    const { intervalMs } = this.#options;
    const { logger } = this.#parts;
    this.#looking = repeat('looking for log exports', () => this.#look(), { intervalMs, logger });
  }

  get running(): number {
    return this.#running.size;
  }

  /** Each ends with the page that it reads, and can be taken up by another replica at once. */
  async drain(): Promise<void> {
    this.#leaving.abort();
    await this.#looking?.stop();
    await Promise.all(this.#running);
  }

  async #look(): Promise<void> {
    const { client } = this.#parts;
    while (this.#running.size < this.#options.atOnce && !this.#leaving.signal.aborted) {
      const claim = await claimLogExport(client, this.#options.leaseMs);
      if (claim === undefined) break;
      const run = this.#work(claim).finally(() => this.#running.delete(run));
      this.#running.add(run);
    }
    if (Date.now() - this.#sweptAtMs < sweepEveryMs) return;
    this.#sweptAtMs = Date.now();
    await this.sweep();
  }

  /** Never rejects. */
  async #work(claim: Claim): Promise<void> {
    const { logger, metrics } = this.#parts;
    const lost = new AbortController();
    const heartbeat = this.#keepHolding(claim, lost);
    const facts = { export: claim.row.id, run: claim.run };
    try {
      const onRows = (count: number) => metrics.wrote(count);
      const isDone = await runExport(
        claim,
        { ...this.#parts, onRows },
        { lost: lost.signal, leave: this.#leaving.signal },
      );
      if (isDone) metrics.ended('success');
      else await releaseLogExport(this.#parts.client, claim, { afterMs: 0 });
      logger.info(facts, isDone ? 'a log export is done' : 'a log export goes on elsewhere');
    } catch (error) {
      await this.#putAside(claim, error).catch((again: unknown) =>
        // Its lease ends by itself.
        logger.warn({ ...facts, err: again }, 'a log export could not be given back'),
      );
    } finally {
      clearInterval(heartbeat);
    }
  }

  #keepHolding(claim: Claim, lost: AbortController): NodeJS.Timeout {
    const { leaseMs } = this.#options;
    const { client, logger } = this.#parts;
    let heldUntilMs = Date.now() + leaseMs;
    return setInterval(
      async () => {
        const askedAtMs = Date.now();
        try {
          if (await holdLogExport(client, claim, leaseMs)) heldUntilMs = askedAtMs + leaseMs;
          else lost.abort();
        } catch (error) {
          logger.warn({ err: error, export: claim.row.id }, 'a log export could not be held on to');
          if (Date.now() > heldUntilMs) lost.abort();
        }
      },
      Math.min(heartbeatMaxMs, leaseMs / 3),
    );
  }

  async #putAside(claim: Claim, error: unknown): Promise<void> {
    const { client, logger, metrics } = this.#parts;
    const facts = { export: claim.row.id, run: claim.run };
    if (error instanceof ExportLost) {
      logger.info(facts, 'a log export was stopped, or is in other hands');
      await releaseLogExport(client, claim, { afterMs: 0 });
      return;
    }
    const { failures } = (await client.logExport.findUnique({
      where: { id: claim.row.id },
      select: { failures: true },
    })) ?? { failures: 0 };
    if (isFinal(error) || failures + 1 >= failuresMax) {
      const told = await endLogExport(client, claim, { status: 'failed', error: reasonOf(error) });
      if (told) metrics.ended('failed');
      logger.error({ ...facts, err: error }, 'a log export failed');
      return;
    }
    const afterMs = Math.min(pauseMaxMs, 1000 * 2 ** failures);
    logger.warn({ ...facts, err: error, afterMs }, 'a log export is tried again later');
    await releaseLogExport(client, claim, { afterMs, failures: failures + 1 });
  }

  /** Empties the store of exports that were stopped, failed, or kept for long enough. */
  async sweep(): Promise<void> {
    const { client, store, now } = this.#parts;
    const keptSince = new Date(now().getTime() - this.#options.keptMs);
    const page = { keptSince, max: sweptAtOnce, after: this.#sweptTo };
    const obsolete = await listObsoleteExports(client, page);
    // What the store refuses stays where it is: the next sweep is of what comes behind it.
    this.#sweptTo = obsolete.length < sweptAtOnce ? undefined : obsolete.at(-1)?.id;
    await eachPastRefusals(obsolete, async (row) => {
      await deleteParts(store, exportFolder(row), row.run);
      await noteEmptied(client, row);
    });
  }
}

/** Asked again, it would be refused again. */
function isFinal(error: unknown): boolean {
  if (error instanceof ExportRefused) return true;
  if (error instanceof StoreError) return !error.isAway;
  return error instanceof GatewayError && error.status < 500;
}

/** For whoever started it: nothing of ours. */
function reasonOf(error: unknown): string {
  if (error instanceof ExportRefused || error instanceof GatewayError) return error.message;
  if (error instanceof StoreError) return `The file could not be stored: ${error.message}.`;
  return 'It failed for a reason that the log of the control plane tells.';
}
