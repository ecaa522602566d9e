import { setTimeout as delay } from 'node:timers/promises';
import { eventually, isLongForm } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrateClickHouse } from '../src/migrate.ts';
import { type ClickHouseFront, startClickHouseFront } from './clickhouse-front.ts';
import { type RunningService, runService } from './running-service.ts';
import { encodedRecord } from './usage-records.ts';

const awayMs = isLongForm ? 20_000 : 4_000;

let front: ClickHouseFront;
let service: RunningService;
beforeAll(async () => {
  front = await startClickHouseFront();
  await migrateClickHouse(front.url, false);
  service = await runService({ CLICKHOUSE_URL: front.url });
});
afterAll(async () => {
  await service.stop();
  await front.close();
});

it('says once that ClickHouse is away and why, and once that it is back, without a stack', async () => {
  await service.write([encodedRecord()]);
  const fromMs = Date.now();
  await front.down();
  const untilMs = fromMs + awayMs;
  while (Date.now() < untilMs) {
    const asked = [service.count(), service.write([encodedRecord()], 500), metrics()];
    await Promise.allSettled(asked);
    await delay(200);
  }
  await front.up();
  await eventually(() =>
    expect(said(fromMs).map(({ msg }) => msg)).toContain('ClickHouse is back'),
  );
  expect(said(fromMs)).toEqual([
    expect.objectContaining({
      level: 'warn',
      msg: 'ClickHouse is away',
      address: new URL(front.url).host,
      reason: expect.stringContaining('ECONNREFUSED'),
    }),
    expect.objectContaining({ level: 'info', msg: 'ClickHouse is back' }),
  ]);
  expect(said(fromMs).at(-1)?.away_ms).toBeGreaterThan(0.8 * awayMs);
});

/** There is none here. */
const ofControlPlane = /^(batches|work at providers) /;

const metrics = () => fetch(`${service.httpUrl}/metrics`);

function said(fromMs: number): { time: string; msg: string; away_ms?: number }[] {
  return service
    .log()
    .split('\n')
    .filter((text) => text.startsWith('{'))
    .map((text) => JSON.parse(text) as { time: string; msg: string })
    .filter(({ time, msg }) => Date.parse(time) >= fromMs && !ofControlPlane.test(msg));
}
