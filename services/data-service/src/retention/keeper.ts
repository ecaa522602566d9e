import type { ClickHouseClient } from '@clickhouse/client';
import type { Logger } from '@sluice/telemetry';
import { cutoffDays, type Kept } from './cutoff-days.ts';
import { deleteAged, writeCutoffs } from './delete-aged.ts';

export interface KeeperOptions {
  client: ClickHouseClient;
  /** Before anything is deleted: it goes only when what is made of it stands. */
  catchUp: () => Promise<void>;
  logger: Logger;
  nowMs: () => number;
  /** Whether minutes are rolled up, which is waited for. */
  isRolledUp: boolean;
}

export interface Keeper {
  /** Deletes what is older than that, and does not let the caller wait for it. */
  keep(kept: Kept): void;
  /** Resolves when nothing is being deleted. */
  idle(): Promise<void>;
}

/** Keeps of the ledger what organisations want to be kept. One run at a time; who asks meanwhile asks again. */
export function createKeeper({
  client,
  catchUp,
  logger,
  nowMs,
  isRolledUp,
}: KeeperOptions): Keeper {
  let running: Promise<void> | undefined;

  async function run(kept: Kept): Promise<void> {
    try {
      await catchUp();
      const cutoffs = await cutoffDays(client, kept, { nowMs: nowMs(), isRolledUp });
      await writeCutoffs(client, cutoffs);
      const tables = await deleteAged(client, cutoffs, nowMs());
      if (tables.length > 0) logger.info({ tables }, 'rows older than they are kept were deleted');
    } catch (error) {
      logger.warn({ err: error }, 'rows older than they are kept could not all be deleted');
    }
  }

  return {
    keep(kept) {
      running ??= run(kept).finally(() => {
        running = undefined;
      });
    },
    async idle() {
      await running;
    },
  };
}
