import { createLogger } from '@sluice/telemetry';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { SharedStore } from '../redis/shared-store.ts';
import { SettleQueue } from './settle-queue.ts';

it('tells of each line that is one too many, and keeps those that wait', () => {
  const client = new Redis({ lazyConnect: true });
  const store = new SharedStore({
    client,
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
  let dropped = 0;
  const queue = new SettleQueue({
    part: store.share({ name: 'limits', deadlineMs: 100 }),
    now: () => '-',
    markOf: () => '',
    onOtherMark: () => {},
    onSettled: () => {},
    linesMax: 3,
    onDropped: () => dropped++,
  });
  const line = { name: 'n', state: undefined, what: 'end', id: 'x', amount: 1 } as const;
  const isComing = Array.from({ length: 5 }, () => queue.push('org', { ...line }));
  expect({ isComing, dropped, size: queue.size }).toEqual({
    isComing: [true, true, true, false, false],
    dropped: 2,
    size: 3,
  });
  queue.close();
});
