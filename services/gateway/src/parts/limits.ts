import { join } from 'node:path';
import type { Part } from '@sluice/service';
import { MemoryLimits } from '../limits/memory-limits.ts';
import { RedisLimits } from '../limits/redis-limits.ts';
import type { SharedStore } from '../redis/shared-store.ts';
import type { Env } from '../settings.ts';

/** Counters of limits: shared through Redis, or of this gateway alone and kept on disk. */
export function limitsPart(env: Env, shared: SharedStore | undefined) {
  const groupsMax = env.LIMIT_GROUPS_MAX;
  const limits =
    shared === undefined
      ? new MemoryLimits({ path: join(env.DATA_DIR, 'counters.jsonl'), groupsMax })
      : new RedisLimits({
          store: shared,
          groupsMax,
          marksPath: join(env.DATA_DIR, 'limits-shared.json'),
        });
  const part: Part = { name: 'limits', start: () => limits.start(), stop: () => limits.close() };
  return { limits, part };
}
