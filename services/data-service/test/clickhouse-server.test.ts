import { eventually, startRelay } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { migrateClickHouse } from '../src/migrate.ts';
import { type ClickHouseFront, startClickHouseFront } from './clickhouse-front.ts';
import { type RunningService, runService } from './running-service.ts';
import { encodedRecord } from './usage-records.ts';

let clickHouse: ClickHouseFront;
let service: RunningService | undefined;

beforeAll(async () => {
  clickHouse = await startClickHouseFront();
});
afterAll(async () => {
  await silent?.service.kill();
  await clickHouse.close();
});
afterEach(async () => {
  await service?.kill();
});

/** A service whose server says nothing any more. It takes half a minute to tell of it, in which other tests run. */
async function startSilent() {
  const relay = await startRelay(Number(new URL(clickHouse.url).port));
  const url = new URL(clickHouse.url);
  url.port = String(relay.port);
  const started = await runService({ CLICKHOUSE_URL: url.href });
  const { said, ask } = askersOf(started);
  relay.hang();
  const untilSaid = async () => {
    while (said('ClickHouse is away') === 0) await ask();
  };
  return { relay, service: started, away: untilSaid() };
}
let silent: Awaited<ReturnType<typeof startSilent>> | undefined;

function askersOf({ log, count, write }: RunningService) {
  return {
    said: (text: string) => log().split(text).length - 1,
    ask: () => Promise.allSettled([count(), write([encodedRecord()], 2_000), count()]),
  };
}

describe('with a ClickHouse server', () => {
  it('waits for the schema and alters nothing; once it is there it starts', async () => {
    const starting = runService({ CLICKHOUSE_URL: clickHouse.url });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const { steps: missing } = await migrateClickHouse(clickHouse.url, true);
    expect(missing).toContain('0001_usage_records.sql');
    // Two at once.
    const applied = await Promise.all([1, 2].map(() => migrateClickHouse(clickHouse.url, false)));
    expect(applied.some(({ steps }) => steps.length === missing.length)).toBe(true);
    expect((await migrateClickHouse(clickHouse.url, true)).steps).toEqual([]);
    service = await starting;
    await service.write([encodedRecord({ organisationId: 'migrated' })]);
    expect(await service.count({ organisationId: 'migrated' })).toBe(1);
    silent = await startSilent();
  });

  it('stores and answers there, without the embedded engine in its memory', async () => {
    service = await runService({ CLICKHOUSE_URL: clickHouse.url });
    const text = "tab\t ' \\ {organisation_id:String} 💥";
    await service.write([encodedRecord({ organisationId: 'server', metadata: { [text]: text } })]);
    expect(await service.count({ organisationId: 'server' })).toBe(1);
    expect(await service.count({ organisationId: 'server', metadata: { [text]: text } })).toBe(1);
    expect(
      await service.count({ organisationId: 'server', metadata: { [text]: `${text}x` } }),
    ).toBe(0);
    const metrics = await (await fetch(`${service.httpUrl}/metrics`)).text();
    const rss = Number(/^node_process_resident_memory_bytes\{.*\} (.+)$/m.exec(metrics)?.[1]);
    expect(rss).toBeLessThan(200e6);
  });

  it('keeps what it got through an outage, and answers its callers after the insert', async () => {
    service = await runService({ CLICKHOUSE_URL: clickHouse.url });
    await clickHouse.down();
    let isStored = false;
    const written = service.write([encodedRecord({ organisationId: 'outage' })]).then(() => {
      isStored = true;
    });
    await eventually(() => service?.log().includes('ClickHouse is away') ?? false);
    expect((await fetch(`${service.httpUrl}/health/live`)).status).toBe(200);
    await eventually(async () => (await fetch(`${service?.httpUrl}/health/ready`)).status === 503);
    await expect(service.count()).rejects.toMatchObject({ code: 14 });
    expect(isStored).toBe(false);
    await clickHouse.up();
    await written;
    expect(await service.count({ organisationId: 'outage' })).toBe(1);
    await eventually(async () => (await fetch(`${service?.httpUrl}/health/ready`)).status === 200);
  });

  it('waits for a server that is not there when it starts', async () => {
    await clickHouse.down();
    const starting = runService({ CLICKHOUSE_URL: clickHouse.url });
    const raised = new Promise((resolve) => setTimeout(resolve, 1500)).then(() => clickHouse.up());
    service = await starting;
    await raised;
    await service.write([encodedRecord({ organisationId: 'late' })]);
    expect(await service.count({ organisationId: 'late' })).toBe(1);
  });

  it('stops in time while the server is down, and tells its callers that nothing was stored', async () => {
    service = await runService({ CLICKHOUSE_URL: clickHouse.url });
    await clickHouse.down();
    const refused = expect(service.write([encodedRecord()], 30_000)).rejects.toThrow();
    await eventually(() => service?.log().includes('ClickHouse is away') ?? false);
    const askedAtMs = performance.now();
    expect((await service.stop()).code).toBe(0);
    expect(performance.now() - askedAtMs).toBeLessThan(12_000);
    await refused;
    await clickHouse.up();
  });

  it('says once that the server is silent, or too busy, and once that it is not any more', async () => {
    const { relay, service: told, away } = silent ?? (await startSilent());
    // What it said is of one go.
    silent = undefined;
    onTestFinished(() => told.kill());
    const { write, count, log } = told;
    const { said, ask } = askersOf(told);
    await away;
    await ask();
    await relay.up();
    await eventually(() => said('ClickHouse is back') > 0);
    clickHouse.refusal = { code: 202, type: 'TOO_MANY_SIMULTANEOUS_QUERIES' };
    await expect(count()).rejects.toMatchObject({ code: 14 });
    for (const _ of [1, 2, 3]) await ask();
    // What a question takes that is too large is its own fault, here as in the embedded engine.
    for (const isLate of [false, true]) {
      clickHouse.refusal = { code: 159, type: 'TIMEOUT_EXCEEDED', isLate };
      await expect(count()).rejects.toMatchObject({ code: 3 });
    }
    clickHouse.refusal = undefined;
    await write([encodedRecord({ organisationId: 'busy' })], 40_000);
    for (const text of [
      'ClickHouse is away',
      'ClickHouse is back',
      'ClickHouse gives up some of what it is asked',
    ])
      expect(said(text), text).toBe(1);
    expect(log()).not.toContain('"stack"');
    await relay.down();
  });
});
