import { join } from 'node:path';
import type { Part } from '@sluice/service';
import type { Logger } from '@sluice/telemetry';
import type { SumCounters } from '../limits/limit-marks.ts';
import { OpenReservations } from '../limits/limit-watch.ts';
import { type LiveReplicas, sayShares, shareOf } from '../limits/live-replicas.ts';
import { MemoryLimits } from '../limits/memory-limits.ts';
import { RedisLimits } from '../limits/redis-limits.ts';
import type { SettlingNotes } from '../limits/settling-notes.ts';
import type { SharedStore } from '../redis/shared-store.ts';
import type { Env } from '../settings.ts';

export interface LimitsParts {
  /** Undefined = there is no Redis. */
  shared: SharedStore | undefined;
  replicas: LiveReplicas;
  /** What the ledger knows of shared counters that were lost. */
  sumCounters: SumCounters;
  notes: SettlingNotes;
  logger: Logger;
}

/** Counters of limits: shared through Redis, or of this gateway alone and kept on disk. */
export function limitsPart(
  env: Env,
  { shared, replicas, sumCounters, notes, logger }: LimitsParts,
) {
  const groupsMax = env.LIMIT_GROUPS_MAX;
  if (shared === undefined) replicas.onChange = sayShares(logger);
  const limits =
    shared === undefined
      ? new MemoryLimits({
          path: join(env.DATA_DIR, 'counters.jsonl'),
          groupsMax,
          allows: (_, { limit }, name) => ({
            value: shareOf(limit.value, replicas.now, name),
            rule: replicas.now.count > 1 ? 'share' : undefined,
          }),
        })
      : new RedisLimits({
          store: shared,
          timeoutMs: env.LIMIT_STORE_TIMEOUT,
          groupsMax,
          expiryMs: env.LIMIT_HOLD_EXPIRY,
          notes,
          replicas: () => replicas.now,
          sumCounters,
          marksPath: join(env.DATA_DIR, 'limits-shared.json'),
        });
  const open = new OpenReservations();
  const part: Part = {
    name: 'limits',
    start() {
      limits.start();
      // Held in a Redis that is not used any more.
      if (shared === undefined) for (const [key] of notes.recalled()) notes.forget(key);
    },
    stop: () => limits.close(),
    gauges: () => [
      {
        name: 'sluice_limits_degraded',
        help: '1 while limits are not counted by all gateways together, though there are several or Redis is set',
        read: () => Number(!limits.isShared && (shared !== undefined || replicas.now.count > 1)),
      },
      {
        name: 'sluice_limit_reservations',
        help: 'Requests that hold something of a limit',
        read: () => open.count,
      },
      {
        name: 'sluice_limit_reservation_oldest_seconds',
        help: 'How long the oldest of them has held it',
        read: () => open.oldestMs / 1000,
      },
      {
        name: 'sluice_limit_settling_lines',
        help: 'Counts on their way to Redis, that nobody waits for',
        read: () => limits.settling.lines,
      },
      {
        name: 'sluice_limit_settling_seconds',
        help: 'How long the oldest of them has been on its way',
        read: () => limits.settling.lagMs / 1000,
      },
      {
        name: 'sluice_limit_settling_dropped_lines',
        help: 'Counts since the start that were given up, since too many waited for Redis',
        read: () => limits.settling.dropped,
      },
    ],
  };
  return { limits, open, part };
}
