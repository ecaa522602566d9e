import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { analytics, usage } from '@sluice/proto-stubs';
import { createMetrics, type Logger } from '@sluice/telemetry';
import { encodeEntry } from '@sluice/usage';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { applySchema, schemaFolder } from '../src/clickhouse/apply-schema.ts';
import { createGapGauge } from '../src/gap-gauge.ts';
import { ingestMetrics } from '../src/metrics.ts';
import { findGaps, listGaps } from '../src/queries/list-gaps.ts';
import { type Ledger, openLedger } from './embedded-ledger.ts';
import { encodedRecord } from './usage-records.ts';

const { BEGUN, ALIVE, ENDED } = usage.LifeState;
const minuteMs = 60_000;
const graceMs = 2 * minuteMs;

let ledger: Ledger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());
beforeEach(async () => {
  for (const table of ['usage_records', 'replica_lives', 'replica_numbers'])
    await ledger.client.command({ query: `TRUNCATE TABLE ${table}` });
});

const records = (replicaId: string, sequences: readonly number[]) =>
  sequences.map((sequence) => encodedRecord({ replicaId, sequence: BigInt(sequence) }));

const life = (some: MessageInitShape<typeof usage.LifeSchema>) =>
  encodeEntry(
    usage.EntryKind.LIFE,
    toBinary(
      usage.LifeSchema,
      create(usage.LifeSchema, { replicaId: 'r', state: ALIVE, atMs: BigInt(Date.now()), ...some }),
    ),
  );

/** As seen so long after everything was stored. */
async function gapsAfter(minutes: number) {
  const nowMs = Date.now() + minutes * minuteMs;
  const gaps = await findGaps(ledger.client, {
    nowMs,
    graceMs,
    sinceMs: nowMs - 24 * 60 * minuteMs,
  });
  return gaps.map(({ replicaId, from, to, life: end }) => [
    replicaId,
    from,
    to,
    analytics.LifeEnd[end],
  ]);
}

describe('findGaps', () => {
  it('names what a life said it has sent and the ledger does not have', async () => {
    await ledger.sink.write([
      ...records('r', [1, 2, 5, 9]),
      life({ sequence: 12n, completeTo: 9n }),
    ]);
    expect(await gapsAfter(3)).toEqual([
      ['r', 3, 4, 'ALIVE'],
      ['r', 6, 8, 'ALIVE'],
    ]);
    await ledger.sink.write(records('r', [3, 4, 6, 7, 8]));
    expect(await gapsAfter(3)).toEqual([]);
  });

  it('does not call a loss what is under way, waits in an outbox, or came a moment ago', async () => {
    await ledger.sink.write([
      ...records('r', [1, 2, 9]),
      life({ state: BEGUN }),
      life({ sequence: 9n, completeTo: 2n }),
    ]);
    expect(await gapsAfter(3)).toEqual([]);
    await ledger.sink.write([life({ sequence: 9n, completeTo: 9n })]);
    expect(await gapsAfter(0)).toEqual([]);
    expect(await gapsAfter(3)).toEqual([['r', 3, 8, 'ALIVE']]);
  });

  it('misses the tail of a life that has ended, and of one whose disk was lost', async () => {
    await ledger.sink.write([
      ...records('orderly', [1, 2, 3]),
      life({ replicaId: 'orderly', state: ENDED, sequence: 5n, completeTo: 5n }),
      ...records('gone', [1, 2]),
      life({ replicaId: 'gone', sequence: 14n, completeTo: 2n }),
    ]);
    expect(await gapsAfter(3)).toEqual([['orderly', 4, 5, 'ENDED']]);
    expect((await gapsAfter(11)).toSorted()).toEqual([
      ['gone', 3, 14, 'SILENT'],
      ['orderly', 4, 5, 'ENDED'],
    ]);
  });

  it('takes the end that the next life tells for a life that was killed', async () => {
    await ledger.sink.write([
      ...records('killed', [1, 2, 3, 4, 6]),
      life({ replicaId: 'killed', sequence: 3n, completeTo: 1n }),
      life({ replicaId: 'killed', state: ENDED }),
    ]);
    expect(await gapsAfter(3)).toEqual([['killed', 5, 5, 'ENDED']]);
  });

  it('counts no number that nothing was recorded under', async () => {
    await ledger.sink.write([
      ...records('r', [1, 3, 6]),
      life({ state: ENDED, sequence: 6n, unused: [2n, 5n] }),
    ]);
    expect(await gapsAfter(3)).toEqual([['r', 4, 4, 'ENDED']]);
  });

  it('is not misled by copies, nor by what stands in another bitmap', async () => {
    const many = Array.from({ length: 200 }, (_, index) => 65_436 + index);
    await ledger.sink.write([
      ...records(
        'r',
        many.filter((number) => number !== 65_540),
      ),
      ...records('r', many.slice(0, 50)),
      life({ state: ENDED, sequence: 131_072n }),
    ]);
    await ledger.sink.write(records('r', many.slice(0, 20)));
    expect(await gapsAfter(3)).toEqual([
      ['r', 1, 65_435, 'ENDED'],
      ['r', 65_540, 65_540, 'ENDED'],
      ['r', 65_636, 131_072, 'ENDED'],
    ]);
  });

  it('finds the one number that a long life lacks, at either end and between', async () => {
    const last = 200_000;
    const lives = { none: 0, first: 1, middle: 100_000, last };
    for (const [name, lacking] of Object.entries(lives))
      await ledger.client.command({
        query: `INSERT INTO replica_numbers
          SELECT '${name}', intDiv(number, 65536) AS block, groupBitmapState(toUInt16(number % 65536)), now64(3)
          FROM numbers(1, ${last}) WHERE number != ${lacking} GROUP BY block`,
      });
    await ledger.sink.write(
      Object.keys(lives).map((replicaId) =>
        life({ replicaId, state: ENDED, sequence: BigInt(last) }),
      ),
    );
    const found = await gapsAfter(3);
    expect(found.toSorted()).toEqual([
      ['first', 1, 1, 'ENDED'],
      ['last', last, last, 'ENDED'],
      ['middle', 100_000, 100_000, 'ENDED'],
    ]);
  });

  it('looks between first and last of a life that does not tell of itself', async () => {
    await ledger.sink.write(records('former', [7, 8, 11]));
    expect(await gapsAfter(0)).toEqual([]);
    expect(await gapsAfter(3)).toEqual([['former', 9, 10, 'UNTOLD']]);
  });

  it('says what no life can have recorded in bounded time', async () => {
    await ledger.sink.write([life({ state: ENDED, sequence: 2n ** 52n })]);
    expect(await gapsAfter(3)).toEqual([['r', 1, 2 ** 52, 'ENDED']]);
  });
});

describe('listGaps', () => {
  it('gives pages, each gap with the time before which it does not lie', async () => {
    const at = Date.now() - 60 * minuteMs;
    await ledger.sink.write([
      life({ sequence: 2n, atMs: BigInt(at) }),
      life({ sequence: 8n, atMs: BigInt(at + 5 * minuteMs) }),
      life({ state: ENDED, sequence: 9n }),
      ...records('r', [1, 2, 4, 8]),
    ]);
    const ask = (currentPage: number) =>
      listGaps(
        ledger.client,
        create(analytics.ListGapsRequestSchema, { pageSize: 2, currentPage }),
        { nowMs: Date.now() + 3 * minuteMs, graceMs },
      );
    const numbers = async (page: number) =>
      (await ask(page)).gaps?.map(({ fromSequence, toSequence, sinceMs }) => [
        fromSequence,
        toSequence,
        Number(sinceMs),
      ]);
    expect((await ask(0)).total).toBe(3n);
    expect(await numbers(0)).toEqual([
      [3n, 3n, at],
      [5n, 7n, at],
    ]);
    expect(await numbers(1)).toEqual([[9n, 9n, at + 5 * minuteMs]]);
  });
});

describe('numbers of records', () => {
  it('are known of records that were stored before there were bitmaps', async () => {
    await ledger.client.command({ query: 'DROP TABLE replica_numbers_of_records' });
    await ledger.sink.write(records('r', [1, 2, 4]));
    expect(await gapsAfter(3)).toEqual([]);
    await ledger.client.command({
      query: "ALTER TABLE schema_files DELETE WHERE name > '0010'",
      clickhouse_settings: { mutations_sync: '2' },
    });
    await applySchema(ledger.client, schemaFolder);
    expect(await gapsAfter(3)).toEqual([['r', 3, 3, 'UNTOLD']]);
  });
});

describe('createGapGauge', () => {
  it('shows what each replica misses, computes it at most every so often, and says once what it found', async () => {
    const logger = { warn: vi.fn(), info: vi.fn() };
    const metrics = createMetrics({ app: 'test', env: 'test' });
    let nowMs = Date.now() + 3 * minuteMs;
    const refresh = createGapGauge({
      client: ledger.client,
      metrics: ingestMetrics(metrics),
      logger: logger as Partial<Logger> as Logger,
      nowMs: () => nowMs,
      graceMs,
      everyMs: 30_000,
    });
    const shown = async () => {
      await refresh();
      const { values } = await metrics.registry.getSingleMetric('usage_sequence_gaps')!.get();
      return values.map(({ labels, value }) => [labels.replica_id, value]);
    };
    await ledger.sink.write([...records('r', [1, 4]), life({ sequence: 4n, completeTo: 4n })]);
    expect(await shown()).toEqual([['r', 2]]);
    await ledger.sink.write(records('r', [2]));
    nowMs += 29_999;
    expect(await shown()).toEqual([['r', 2]]);
    nowMs += 1;
    expect(await shown()).toEqual([['r', 1]]);
    nowMs += 30_000;
    expect(await shown()).toEqual([['r', 1]]);
    expect(logger.warn.mock.calls.map(([{ gaps }]) => gaps)).toMatchObject([
      [{ from: 2, to: 3 }],
      [{ from: 3, to: 3 }],
    ]);
    await ledger.sink.write(records('r', [3]));
    for (const _ of [1, 2]) {
      nowMs += 30_000;
      expect(await shown()).toEqual([]);
    }
    expect(logger.info.mock.calls).toEqual([['no usage records are missing any more']]);
  });
});
