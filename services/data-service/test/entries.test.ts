import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import { encodeEntry } from '@sluice/usage';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../src/queries/ask.ts';
import { entries } from '../src/queries/entries.ts';
import type { EntryColumn } from '../src/queries/entry-columns.ts';
import { conditionOf } from '../src/queries/filter.ts';
import { type Ledger, openLedger } from './embedded-ledger.ts';
import { dayFilter, dayMs, encodedRecord } from './usage-records.ts';

type RecordInit = MessageInitShape<typeof usage.UsageRecordSchema>;

let ledger: Ledger;
beforeAll(async () => {
  ledger = await openLedger();
  await ledger.client.command({ query: 'SYSTEM STOP MERGES usage_records' });
});
afterAll(() => ledger.close());
beforeEach(async () => {
  for (const table of ['usage_records', 'usage_adjustments'])
    await ledger.client.command({ query: `TRUNCATE TABLE ${table}` });
});

describe('entries', () => {
  it('are one a target: retries share one, of the last status and latency, with the tokens and cost of all', async () => {
    const first = idAt(1);
    await write([
      { id: first, statusCode: 503, entryMs: 200, latencyMs: 250, inputTokens: 1n },
      { id: idAt(3), entryId: first, retryCount: 2, statusCode: 200, entryMs: 900 },
      {
        ...{ id: idAt(2), entryId: first, retryCount: 1, statusCode: 429, costKnown: false },
        outcome: usage.Outcome.UPSTREAM_ERROR,
      },
      { id: idAt(4), statusCode: 200, entryMs: 30, latencyMs: 35 },
    ]);
    expect(await read(['status_code', 'attempts', 'retry_count', ...figures])).toEqual([
      entry({ status_code: 200, attempts: 1, retry_count: 0, latency_us: 30_000 }),
      entry({
        status_code: 200,
        attempts: 3,
        retry_count: 2,
        latency_us: 900_000,
        input_tokens: 21,
        output_tokens: 15,
        cost_nano_usd: 9000,
      }),
    ]);
  });

  it('are told by the attempt that began last, also where ids sort otherwise as UUIDs', async () => {
    const first = idAt(1);
    await write([
      { id: first, retryCount: 0, statusCode: 500 },
      // Their last bytes, which decide for the engine, are in the other order.
      { id: idAt(2, 0xff), entryId: first, retryCount: 0, statusCode: 502 },
      { id: idAt(3, 0x00), entryId: first, retryCount: 0, statusCode: 504 },
    ]);
    expect(await read(['status_code'])).toEqual([{ status_code: 504 }]);
  });

  it('are told by the call that answered, not by the second one that was cancelled for it', async () => {
    const first = idAt(1);
    const superseded = { errorCode: 'request.superseded', statusCode: 499 };
    await write([
      { id: first, statusCode: 200 },
      { id: idAt(2), entryId: first, ...superseded },
    ]);
    expect(await read(['status_code', 'attempts'])).toEqual([{ status_code: 200, attempts: 2 }]);
  });

  it('of records without an id of theirs are one each, timed from the arrival of the request', async () => {
    const requestId = idAt(0);
    await write([
      { requestId, retryCount: 0, latencyMs: 205 },
      { requestId, retryCount: 1, latencyMs: 1421.5 },
    ]);
    expect((await read(['latency_us'])).map((row) => row.latency_us)).toEqual([205_000, 1_421_500]);
  });

  it('whose first attempt was lost with its replica are found by the others', async () => {
    await write([{ id: idAt(2), entryId: idAt(1), retryCount: 1, statusCode: 200 }]);
    expect(await read(['status_code', 'attempts'])).toEqual([{ status_code: 200, attempts: 1 }]);
  });

  it.each(['before', 'after'])(
    'take the real end of an attempt for the lost one, arriving %s',
    async (when) => {
      const id = idAt(1);
      const lost = { id, outcome: usage.Outcome.LOST, statusCode: 0, inputTokens: 0n };
      const real = { id, statusCode: 200 };
      for (const record of when === 'before' ? [real, lost] : [lost, real]) await write([record]);
      expect(await read(['status_code', 'input_tokens'])).toEqual([
        { status_code: 200, input_tokens: 10 },
      ]);
    },
  );

  it('cost what their attempts cost, with what was added later, which may make it known', async () => {
    const [retried, unknown, half] = [idAt(1), idAt(5), idAt(7)];
    const nothing = { costKnown: false, costNanoUsd: 0n, inputTokens: 0n, outputTokens: 0n };
    await write([
      { id: retried, statusCode: 500, costNanoUsd: 100n },
      { id: idAt(2), entryId: retried, retryCount: 1, costNanoUsd: 30n },
      { id: unknown, costKnown: false, costNanoUsd: 999n },
      { id: idAt(6), costKnown: false },
      // Of the second nobody knows it, and so of both.
      { id: half, statusCode: 500, costNanoUsd: 100n },
      { id: idAt(8), entryId: half, retryCount: 1, costKnown: false },
      // Nothing was used, whether or not its record says so.
      { id: idAt(9), ...nothing, outcome: usage.Outcome.DENIED, attemptMs: 0 },
      { id: idAt(10), ...nothing, outcome: usage.Outcome.UPSTREAM_ERROR },
      { id: idAt(11), ...nothing, outcome: usage.Outcome.UPSTREAM_FAILURE },
      {
        id: idAt(12),
        ...nothing,
        outcome: usage.Outcome.UPSTREAM_FAILURE,
        errorCode: 'upstream.timeout',
      },
    ]);
    await ledger.sink.write([
      adjustment(retried, 7n),
      adjustment(idAt(2), -2n),
      adjustment(unknown, 50n, true),
    ]);
    expect(await read(['cost_nano_usd', 'cost_known', 'adjusted_nano_usd'])).toEqual([
      { cost_nano_usd: 0, cost_known: 0, adjusted_nano_usd: 0 },
      { cost_nano_usd: 0, cost_known: 0, adjusted_nano_usd: 0 },
      { cost_nano_usd: 0, cost_known: 1, adjusted_nano_usd: 0 },
      { cost_nano_usd: 0, cost_known: 1, adjusted_nano_usd: 0 },
      { cost_nano_usd: 0, cost_known: 1, adjusted_nano_usd: 0 },
      { cost_nano_usd: 50, cost_known: 1, adjusted_nano_usd: 50 },
      { cost_nano_usd: 100, cost_known: 0, adjusted_nano_usd: 0 },
      { cost_nano_usd: 135, cost_known: 1, adjusted_nano_usd: 5 },
    ]);
  });

  it('know whether they were asked because another target of their request did not do', async () => {
    const [first, second] = ['config.targets[0]', 'config.targets[1]'];
    const [rescued, failed, alone] = [idAt(0, 1), idAt(0, 2), idAt(0, 3)];
    await write([
      { requestId: rescued, id: idAt(1), provider: 'a', optionPath: first, statusCode: 500 },
      {
        requestId: rescued,
        id: idAt(2),
        entryId: idAt(1),
        provider: 'a',
        optionPath: first,
        statusCode: 500,
      },
      { requestId: rescued, id: idAt(3), provider: 'b', optionPath: second, statusCode: 200 },
      {
        requestId: failed,
        id: idAt(4, 9),
        provider: 'a',
        optionPath: first,
        outcome: usage.Outcome.DENIED,
        statusCode: 446,
      },
      { requestId: failed, id: idAt(5, 0), provider: 'b', optionPath: second, statusCode: 500 },
      { requestId: alone, id: idAt(6), provider: 'a', optionPath: first, statusCode: 200 },
    ]);
    const told = async (filter: Parameters<typeof dayFilter>[0]) =>
      (await read(['provider', 'is_fallback', 'status_code'], filter)).map(
        ({ provider, status_code, is_fallback }) =>
          `${provider} ${status_code} ${Number(is_fallback) === 1}`,
      );
    const both = await told({});
    expect(both.sort()).toEqual([
      'a 200 false',
      'a 446 false',
      'a 500 false',
      'b 200 true',
      'b 500 true',
    ]);
    expect(await told({ aiOrgModels: ['b__gpt-4o-mini'], statusCodes: [200] })).toEqual([
      'b 200 true',
    ]);
  });

  it('are fallbacks after a 246, too, but not as calls of tools or later turns', async () => {
    const [soft, turns] = [idAt(0, 1), idAt(0, 2)];
    const [first, second] = ['config.targets[0]', 'config.targets[1]'];
    await write([
      { requestId: soft, id: idAt(1), provider: 'a', optionPath: first, statusCode: 246 },
      { requestId: soft, id: idAt(2), provider: 'b', optionPath: second, statusCode: 200 },
      { requestId: turns, id: idAt(3), provider: 'c', optionPath: first, statusCode: 500 },
      { requestId: turns, id: idAt(4), provider: 'tool', optionPath: '', statusCode: 200 },
      { requestId: turns, id: idAt(5), provider: 'd', optionPath: second, statusCode: 200 },
      { requestId: turns, id: idAt(6), provider: 'tool', optionPath: '', statusCode: 200 },
      { requestId: turns, id: idAt(7), provider: 'c', optionPath: first, statusCode: 200 },
    ]);
    const told = (await read(['provider', 'is_fallback'])).filter(
      ({ is_fallback }) => Number(is_fallback) === 1,
    );
    expect(told.map(({ provider }) => provider).sort()).toEqual(['b', 'd']);
  });

  it('are filtered by what they came to, not by what one of their attempts did', async () => {
    const first = idAt(1);
    await write([
      { id: first, statusCode: 503, inputTokens: 10n, outputTokens: 0n },
      {
        id: idAt(2),
        entryId: first,
        retryCount: 1,
        statusCode: 200,
        inputTokens: 10n,
        outputTokens: 5n,
      },
    ]);
    const count = async (filter: Parameters<typeof dayFilter>[0]) =>
      (await read(['attempts'], filter)).length;
    expect(await count({ statusCodes: [503] })).toBe(0);
    expect(await count({ isSuccess: true })).toBe(1);
    expect(await count({ totalUnitsMin: 25n, totalUnitsMax: 25n })).toBe(1);
    expect(await count({ totalUnitsMin: 26n })).toBe(0);
  });
});

const figures = ['latency_us', 'input_tokens', 'output_tokens', 'cost_nano_usd'] as const;

function entry(some: Record<string, number>) {
  return { input_tokens: 10, output_tokens: 5, cost_nano_usd: 4500, ...some };
}

/** A UUIDv7 of the test day's so-many-eth millisecond, which ends as asked. */
function idAt(ms: number, end = 0): Buffer {
  const id = Buffer.alloc(16, end);
  id.writeUIntBE(dayMs + ms, 0, 6);
  id[6] = 0x70;
  return id;
}

/** Twice, in parts that never merge. */
async function write(records: readonly RecordInit[]): Promise<void> {
  const encoded = records.map(encodedRecord);
  for (let copy = 0; copy < 2; copy += 1) await ledger.sink.write(encoded);
}

async function read(columns: readonly EntryColumn[], filter: Parameters<typeof dayFilter>[0] = {}) {
  const condition = conditionOf(dayFilter(filter));
  const rows = await ask<Record<string, number | string>>(
    ledger.client,
    `SELECT ${columns.join(', ')} FROM ${entries(condition, columns)} ORDER BY ALL`,
    condition,
  );
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        name === 'provider' ? value : Number(value),
      ]),
    ),
  );
}

function adjustment(recordId: Uint8Array, costNanoUsd: bigint, makesKnown = false): Uint8Array {
  const body = create(usage.AdjustmentSchema, {
    id: Buffer.from(recordId).reverse(),
    recordId,
    organisationId: 'org-1',
    workspaceId: 'ws-1',
    attemptCreatedAtMs: BigInt(dayMs),
    createdAtMs: BigInt(dayMs + 24 * 3600 * 1000),
    costNanoUsd,
    makesKnown,
    reason: 'reprice',
  });
  return encodeEntry(usage.EntryKind.ADJUSTMENT, toBinary(usage.AdjustmentSchema, body));
}
