import { join } from 'node:path';
import { type BreakingStore, logOfStore, openLogStore } from '@sluice/object-store';
import type { Part } from '@sluice/service';
import type { Logger } from '@sluice/telemetry';
import { ContentKeeper } from '../content/content-keeper.ts';
import { ContentSpool, type LossCause } from '../content/content-spool.ts';
import type { ContentTaker } from '../content/content-taker.ts';
import type { Holding } from '../content/kept-content.ts';
import { SegmentThread } from '../content/segment-sender.ts';
import type { Env } from '../settings.ts';
import { headerRules } from './header-rules.ts';

/** What was asked and answered, on its way to the log store and to whoever else takes it; without any nothing is noted. */
export function contentPart(
  env: Env,
  logger: Logger,
  others: readonly ContentTaker[],
): { keeper: ContentKeeper | undefined; part: Part } {
  // Opened by the thread that writes; here only so that a wrong setting ends the start.
  const store = openLogStore(env);
  const takers = [...others];
  const holding: Holding = {
    bytes: 0,
    bytesMax: env.CONTENT_MEMORY_BYTES_MAX,
    // Each has its own: what only one has let go of is still held.
    dropOldest: () => takers.map((taker) => taker.dropOldest()).some(Boolean),
  };
  const spool = store === undefined ? undefined : openSpool(env, logger, store, holding);
  if (spool !== undefined) takers.unshift(spool.taker);
  const keeper =
    takers.length === 0
      ? undefined
      : new ContentKeeper(takers, holding, {
          format: env.LOG_STORE_FILE_PATH_FORMAT,
          isStored: store !== undefined,
          bodyBytesMax: env.CONTENT_BODY_BYTES_MAX,
        });
  return { keeper, part: spool?.part ?? { name: 'content' } };
}

function openSpool(env: Env, logger: Logger, store: BreakingStore, holding: Holding) {
  const losses: Record<LossCause, number> = { memory: 0, 'spool-full': 0, disk: 0, refused: 0 };
  let dropped = 0;
  let toldAtMs = 0;
  const spool = new ContentSpool({
    dir: join(env.DATA_DIR, 'content'),
    bytesMax: env.CONTENT_SPOOL_BYTES_MAX,
    holding,
    headers: headerRules(env),
    sender: new SegmentThread(env),
    listener: logOfStore(logger),
    onLoss(logs, because, reason) {
      losses[because] += logs;
      dropped += logs;
      const nowMs = Date.now();
      if (nowMs - toldAtMs < toldEveryMs) return;
      toldAtMs = nowMs;
      logger.error(
        { dropped: { ...losses }, store: store.name, ...(reason !== undefined && { reason }) },
        'bodies of requests are dropped on their way to the log store',
      );
    },
  });
  const part: Part = {
    name: 'content',
    async start() {
      await store.close();
      spool.start();
      logger.info({ store: store.name }, 'bodies of requests are kept');
    },
    stop: (deadlineMs) => spool.stop(Math.min(sendMs, deadlineMs / 2)),
    gauges: () => [
      {
        name: 'sluice_content_spool_bytes',
        help: 'Bodies of requests that wait for the log store',
        read: () => spool.bytes,
      },
      {
        name: 'sluice_content_spool_oldest_seconds',
        help: 'Age of the oldest log whose bodies wait for the log store; 0 = none does',
        read: () => (spool.oldestAtMs === 0 ? 0 : (Date.now() - spool.oldestAtMs) / 1000),
      },
      {
        name: 'sluice_content_dropped_logs',
        help: 'Logs since the start whose bodies were dropped',
        read: () => dropped,
      },
      {
        name: 'sluice_content_stored_logs',
        help: 'Logs since the start whose bodies the log store has',
        read: () => spool.stored,
      },
      {
        name: 'sluice_content_store_away',
        help: '1 while the log store does not take bodies',
        read: () => Number(spool.isAway),
      },
    ],
  };
  return { taker: spool, part };
}

const toldEveryMs = 10_000;
/** What is not sent by then is sent after the next start. */
const sendMs = 4_000;
