import { randomBytes } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import { uuidText } from '@sluice/usage';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fingerprint } from '../src/seals/read-blocks.ts';
import { sealDueDays } from '../src/seals/seal-due-days.ts';
import { readHead, readSeals } from '../src/seals/seal-rows.ts';
import { sealedBytes, sealedColumns } from '../src/seals/sealed-columns.ts';
import { verifyOrganisation } from '../src/seals/verify-organisation.ts';
import { type Ledger, openLedger } from './embedded-ledger.ts';
import { dayMs, encodedAdjustment, encodedRecord } from './usage-records.ts';

const hourMs = 3_600_000;
const fullDayMs = 24 * hourMs;
/** Three days are over for long enough then. */
const nowMs = dayMs + 3 * fullDayMs + 7 * hourMs;

let ledger: Ledger;
beforeAll(async () => {
  ledger = await openLedger({ nowMs: Date.now });
});
afterAll(() => ledger.close());

async function forgetAll() {
  for (const table of ['usage_records', 'usage_adjustments', 'ledger_seals'])
    await ledger.client.command({ query: `TRUNCATE TABLE ${table}` });
}

type Some = MessageInitShape<typeof usage.UsageRecordSchema>;

/** Stores records as if it were that time, by default a minute after they were made. */
async function store(records: readonly Some[], table = 'usage_records', storedAtMs?: number) {
  const bytes = records.map((some) => encodedRecord(some));
  await ledger.sink.write(bytes);
  await setStoredAt(table, storedAtMs);
}

/** What the ledger notes by itself, and in the tests' past is not today. */
async function setStoredAt(table: string, storedAtMs?: number) {
  const at =
    storedAtMs === undefined
      ? 'created_at + INTERVAL 1 MINUTE'
      : `fromUnixTimestamp64Milli(${storedAtMs}, 'UTC')`;
  await ledger.client.command({
    query: `ALTER TABLE ${table} UPDATE stored_at = ${at} WHERE stored_at > fromUnixTimestamp64Milli(${nowMs + fullDayMs}, 'UTC') SETTINGS mutations_sync = 2`,
  });
}

async function adjust(...adjustments: MessageInitShape<typeof usage.AdjustmentSchema>[]) {
  await ledger.sink.write(
    adjustments.map((some) => encodedAdjustment({ costNanoUsd: 70n, ...some })),
  );
  await setStoredAt('usage_adjustments');
}

const seal = () => sealDueDays(ledger.client, nowMs);
const verify = () =>
  verifyOrganisation(ledger.client, { organisationId: 'org-1', since: '2026-01-01' });
const seals = (organisationId = 'org-1') =>
  readSeals(ledger.client, organisationId, { where: 'true', order: 'sequence', limit: '1000' });
/** As somebody would who has the database. */
const tamper = (query: string) =>
  ledger.client.command({ query: `${query} SETTINGS mutations_sync = 2` });

const at = (days: number, hours = 0) => BigInt(dayMs + days * fullDayMs + hours * hourMs);

describe('sealDueDays', () => {
  beforeEach(forgetAll);

  it('seals the totals of each workspace and day, with its adjustments on their own day, and ends each day with their sum', async () => {
    await store([
      {},
      { createdAtMs: at(0, 23), workspaceId: 'ws-2', costNanoUsd: 10n },
      { createdAtMs: at(0, 1) },
      { createdAtMs: at(2) },
      { organisationId: 'org-2' },
    ]);
    await adjust({});
    await seal();
    const chain = await seals();
    expect(
      chain.map(({ kind, day, workspaceId, records, costNanoUsd, adjustments, adjustedNanoUsd }) =>
        [kind, day.slice(-2), workspaceId, records, costNanoUsd, adjustments, adjustedNanoUsd].join(
          ' ',
        ),
      ),
    ).toEqual([
      'part 10 ws-1 2 9000 0 0',
      'part 10 ws-2 1 10 0 0',
      'day 10  3 9010 0 0',
      'part 11 ws-1 0 0 1 70',
      'day 11  0 0 1 70',
      'part 12 ws-1 1 4500 0 0',
      'day 12  1 4500 0 0',
    ]);
    expect(chain.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(await seals('org-2')).toHaveLength(4);
  });

  it('seals a day when it is over for six hours, and nothing twice', async () => {
    await store([{}]);
    await sealDueDays(ledger.client, dayMs + fullDayMs + 6 * hourMs);
    expect(await seals()).toEqual([]);
    await sealDueDays(ledger.client, dayMs + fullDayMs + 6 * hourMs + 600_000);
    const first = await readHead(ledger.client, 'org-1');
    expect(first).toMatchObject({ day: '2026-03-10', sequence: 2 });
    await Promise.all([seal(), seal()]);
    await seal();
    const chain = await seals();
    expect(chain.map(({ day }) => day.slice(-2))).toEqual(['10', '10', '11', '12']);
    expect(chain[1]).toEqual(first);
    expect((await verify()).faults).toEqual([]);
  });

  it('counts what came after its day was sealed with the day it came on', async () => {
    await store([{}]);
    await store([{ costNanoUsd: 7n }], 'usage_records', dayMs + 2 * fullDayMs);
    await seal();
    const parts = (await seals()).filter(({ kind }) => kind === 'part');
    expect(parts).toMatchObject([
      { day: '2026-03-10', recordsDay: '2026-03-10', costNanoUsd: 4500n },
      { day: '2026-03-11', recordsDay: '2026-03-10', costNanoUsd: 7n },
    ]);
    expect((await verify()).faults).toEqual([]);
  });

  it('goes on for an organisation of whose records none is kept any more', async () => {
    await store([{}]);
    await sealDueDays(ledger.client, dayMs + fullDayMs + 7 * hourMs);
    await ledger.client.command({ query: 'TRUNCATE TABLE usage_records' });
    await adjust({});
    await seal();
    expect((await seals()).map(({ kind, day }) => `${kind} ${day.slice(-2)}`)).toEqual([
      'part 10',
      'day 10',
      'part 11',
      'day 11',
      'day 12',
    ]);
  });

  it('leaves attempts whose end nobody knows until it is known', async () => {
    const id = randomBytes(16);
    await store([{ id, outcome: usage.Outcome.LOST, costKnown: false, costNanoUsd: 0n }, {}]);
    await seal();
    expect((await seals())[0]).toMatchObject({ records: 1 });
    await store([{ id }], 'usage_records', nowMs);
    const { faults, late } = await verify();
    expect(faults).toEqual([]);
    expect(late).toEqual([
      { workspaceId: 'ws-1', recordsDay: '2026-03-10', records: 1, adjustments: 0 },
    ]);
  });
});

/**
 * Each test has one of its own, of which it is the first to touch anything; all are stored and sealed at once. Two are
 * for what is tried again.
 */
const sealed = Array.from({ length: 22 }, (_, index) => ({
  organisationId: `sealed-${index}`,
  ids: [randomBytes(16), randomBytes(16), randomBytes(16)],
}));

describe('verifyOrganisation', () => {
  const recordChanges = [
    'cost_nano_usd = 1',
    "metadata = map('a', 'b')",
    'latency_ms = latency_ms + 0.5',
    "decision_json = '{}'",
    "tool_error = 'nothing'",
    'usage_missing = true',
  ];
  const sealChanges = [
    ['seal-altered', 'UPDATE cost_nano_usd = 1 WHERE sequence = 1', 1],
    ['seal-missing', 'DELETE WHERE sequence = 2', 2],
    ['seal-missing', 'DELETE WHERE sequence = 1', 1],
    ['seal-missing', 'DELETE WHERE sequence = 4', 4],
    ['seal-altered', "UPDATE previous_hash = repeat('1', 64) WHERE sequence = 3", 3],
  ] as const;
  /** What is altered of the first ones is altered at once as well: each alteration writes all parts anew. */
  const ofRecords = recordChanges.map((change) => ({ change, ...sealed.shift() }));
  const ofSeals = sealChanges.map(([reason, change, sequence]) => ({
    reason,
    change,
    sequence,
    ...sealed.shift(),
  }));
  beforeAll(async () => {
    await forgetAll();
    const all = [...ofRecords, ...ofSeals, ...sealed].map(({ organisationId = '', ids = [] }) => ({
      organisationId,
      ids,
    }));
    await store(
      all.flatMap(({ organisationId, ids }) => [
        ...ids.map((id) => ({ id, organisationId })),
        { createdAtMs: at(0, 5), organisationId },
        { createdAtMs: at(1, 5), workspaceId: 'ws-2', organisationId },
      ]),
    );
    await adjust(...all.map(({ organisationId }) => ({ createdAtMs: at(1, 2), organisationId })));
    await seal();
    const recordCommands = ofRecords.map(
      ({ change, ids = [] }) => `UPDATE ${change} WHERE id = '${uuidText(ids[1] as Buffer)}'`,
    );
    const sealCommands = ofSeals.map(
      ({ change, organisationId }) => `${change} AND organisation_id = '${organisationId}'`,
    );
    await tamper(`ALTER TABLE usage_records ${recordCommands.join(', ')}`);
    await tamper(`ALTER TABLE ledger_seals ${sealCommands.join(', ')}`);
  });

  const verifyOf = (organisationId = '') =>
    verifyOrganisation(ledger.client, { organisationId, since: '2026-01-01' });

  it.each(ofRecords)(
    'names the record of which somebody altered $change',
    async ({ organisationId, ids = [] }) => {
      expect((await verifyOf(organisationId)).faults).toEqual([
        {
          reason: 'altered',
          day: '2026-03-10',
          workspaceId: 'ws-1',
          recordsDay: '2026-03-10',
          table: 'usage_records',
          hour: 0,
          rows: 0,
          recordId: uuidText(ids[1] as Buffer),
        },
      ]);
    },
  );

  it.each(ofSeals)(
    'names a seal: $reason by $change',
    async ({ organisationId, reason, sequence }) => {
      expect((await verifyOf(organisationId)).faults).toMatchObject([{ reason, sequence }]);
    },
  );

  describe('of one that is touched in its test', () => {
    let organisationId: string;
    let named: string[];
    beforeEach(() => {
      const untouched = sealed.shift();
      if (untouched === undefined) throw new Error('there are fewer organisations than tests');
      organisationId = untouched.organisationId;
      named = untouched.ids.map((id) => uuidText(id));
    });
    const verify = (since = '2026-01-01') =>
      verifyOrganisation(ledger.client, { organisationId, since });

    it('finds no fault in what nobody touched', async () => {
      const head = await readHead(ledger.client, organisationId);
      expect(await verify()).toEqual({
        keptFrom: '',
        entries: 6,
        sealedTo: '2026-03-12',
        headSequence: 6,
        headHash: head?.hash,
        faults: [],
        late: [],
      });
    });

    it('names the record that somebody removed, also where it was the only one', async () => {
      await tamper(
        `ALTER TABLE usage_records DELETE WHERE organisation_id = '${organisationId}' AND (id = '${named[2]}' OR workspace_id = 'ws-2')`,
      );
      const { faults } = await verify();
      expect(faults).toMatchObject([
        { reason: 'removed', workspaceId: 'ws-1', rows: -1, recordId: named[2] },
        { reason: 'removed', workspaceId: 'ws-2', rows: -1, recordId: expect.any(String) },
      ]);
    });

    it('names the record that somebody added among those that are sealed', async () => {
      const id = randomBytes(16);
      await store([{ id, createdAtMs: at(1, 9), workspaceId: 'ws-3', organisationId }]);
      expect((await verify()).faults).toMatchObject([
        {
          reason: 'added',
          day: '2026-03-11',
          workspaceId: 'ws-3',
          rows: 1,
          recordId: uuidText(id),
        },
      ]);
    });

    it('tells of what is added today as late, not as a fault', async () => {
      const days = [at(1, 9), at(2, 9)].map((createdAtMs) => ({ createdAtMs, organisationId }));
      await store(days, 'usage_records', nowMs);
      const { faults, late } = await verify();
      expect(faults).toEqual([]);
      expect(late).toMatchObject([
        { recordsDay: '2026-03-11', records: 1 },
        { recordsDay: '2026-03-12', records: 1 },
      ]);
      // Of what is late, whatever else is wrong.
      await tamper(`ALTER TABLE usage_records DELETE WHERE id = '${named[2]}'`);
      const both = await verify();
      expect(both.faults).toMatchObject([{ reason: 'removed', recordId: named[2] }]);
      expect(both.late).toEqual(late);
    });

    it('takes an adjustment for no fault, and names one that was altered', async () => {
      await adjust({ createdAtMs: BigInt(nowMs), organisationId });
      expect(await verify()).toMatchObject({ faults: [], late: [] });
      await tamper(
        `ALTER TABLE usage_adjustments UPDATE cost_nano_usd = 1 WHERE created_at < '2026-03-12' AND organisation_id = '${organisationId}'`,
      );
      expect((await verify()).faults).toMatchObject([
        {
          reason: 'altered',
          table: 'usage_adjustments',
          day: '2026-03-11',
          recordId: expect.any(String),
        },
      ]);
    });

    it('names the hour where several differ', async () => {
      await tamper(
        `ALTER TABLE usage_records UPDATE model = 'x' WHERE id IN ('${named[0]}', '${named[1]}')`,
      );
      const { faults } = await verify();
      expect(faults).toMatchObject([{ reason: 'altered', hour: 0, rows: 0 }]);
      expect(faults[0]).not.toHaveProperty('recordId');
    });

    it('looks at the rows of the days that it is asked for only, and at every seal', async () => {
      await tamper(`ALTER TABLE usage_records DELETE WHERE id = '${named[2]}'`);
      expect(await verify('2026-03-11')).toMatchObject({ entries: 6, faults: [] });
    });

    it('compares all that is kept, from the first day that is', async () => {
      const cutoff = { organisation_id: organisationId, grain: 'logs', before: '2026-03-10' };
      const values = [cutoff];
      await ledger.client.insert({ table: 'retention_cutoffs', values, format: 'JSONEachRow' });
      expect(await verify()).toMatchObject({ keptFrom: '2026-03-10', faults: [] });
    });

    it('takes a copy that comes again for what it is', async () => {
      const id = randomBytes(16);
      const copy = encodedRecord({ id, createdAtMs: at(1, 9), organisationId });
      await ledger.sink.write([copy]);
      await setStoredAt('usage_records', nowMs - 2 * fullDayMs);
      const before = await verify();
      await ledger.sink.write([copy]);
      expect(
        await ledger.rows(`SELECT id FROM usage_records WHERE id = '${uuidText(id)}'`),
      ).toHaveLength(1);
      expect(await verify()).toEqual(before);
    });
  });
});

describe('old records', () => {
  beforeEach(forgetAll);

  it('of more workspaces than are compared at once are each compared with their own day', async () => {
    const ofDay = (days: number, workspaces: number) =>
      Array.from({ length: workspaces }, (_, number) => ({
        createdAtMs: at(days),
        workspaceId: `ws-${number}`,
      }));
    await store([...ofDay(0, 2600), ...ofDay(1, 2600), ...ofDay(2, 2)]);
    await seal();
    const entries = 2 * 2600 + 2 + 3;
    expect(await verify()).toMatchObject({ entries, sealedTo: '2026-03-12', faults: [], late: [] });
    await tamper("ALTER TABLE usage_records UPDATE model = 'x' WHERE workspace_id = 'ws-1'");
    expect((await verify()).faults).toMatchObject(
      ['2026-03-10', '2026-03-11', '2026-03-12'].map((day) => ({
        reason: 'altered',
        day,
        workspaceId: 'ws-1',
      })),
    );
  });

  const stored = () =>
    ledger.rows<{ sequence: number; outcome: string; copies: number }>(
      'SELECT toUInt32(sequence) AS sequence, max(outcome) AS outcome, toUInt32(count()) AS copies FROM (SELECT * FROM usage_records ORDER BY certainty DESC) GROUP BY sequence ORDER BY sequence',
    );

  it('are stored once, by their numbers, their ids, or both', async () => {
    const old = (sequence: number, some: Some = {}) => ({
      id: randomBytes(16),
      createdAtMs: at(0),
      replicaId: 'replica-of-old',
      sequence: BigInt(sequence),
      ...some,
    });
    const first = old(70_001);
    const lost = old(70_002, { outcome: usage.Outcome.LOST });
    const unnumbered = old(0);
    await ledger.client.command({ query: 'SYSTEM STOP MERGES usage_records' });
    await ledger.sink.write([first, lost, unnumbered].map(encodedRecord));
    const real = { ...lost, outcome: usage.Outcome.SUCCESS };
    // Of another life, whose numbers begin anew.
    const other = old(70_001, { replicaId: 'another', workspaceId: 'ws-2' });
    await ledger.sink.write(
      [old(69_999), first, lost, real, unnumbered, old(70_003), other].map(encodedRecord),
    );
    await ledger.client.command({ query: 'SYSTEM START MERGES usage_records' });
    expect(await stored()).toEqual([
      { sequence: 0, outcome: 'success', copies: 1 },
      { sequence: 69_999, outcome: 'success', copies: 1 },
      { sequence: 70_001, outcome: 'success', copies: 2 },
      { sequence: 70_002, outcome: 'success', copies: 2 },
      { sequence: 70_003, outcome: 'success', copies: 1 },
    ]);
  });
});

describe('sealed columns', () => {
  beforeEach(forgetAll);

  it('of a row without any that came later are those of before, so that seals of the past hold', async () => {
    const call = randomBytes(16);
    await store([{}, { id: call, rpcMethod: 'tools/call', capabilityName: 'search' }]);
    const before = `SHA256(formatRow('RowBinary', ${sealedColumns.usage_records.first.join(', ')}))`;
    expect(
      await ledger.rows(
        `SELECT id, (${before}) = content AS is_same
         FROM (SELECT *, ${fingerprint('usage_records')} FROM usage_records) ORDER BY rpc_method`,
      ),
    ).toEqual([
      { id: expect.any(String), is_same: 1 },
      { id: uuidText(call), is_same: 0 },
    ]);
  });

  it('of a row with some of them are those of before the next one, unless it is set', async () => {
    const { first, second } = sealedColumns.usage_records;
    const [unpriced, plain] = [randomBytes(16), randomBytes(16)];
    await store([
      { id: plain, rpcMethod: 'tools/call' },
      { id: unpriced, rpcMethod: 'tools/call', unpricedUnits: 'searches' },
    ]);
    // As it was before there was `unpriced_units`.
    const before = { first, second: second.filter((name) => name !== 'unpriced_units'), newer: [] };
    const after = { ...before, newer: ['unpriced_units'] };
    expect(
      await ledger.rows(
        `SELECT id, ${sealedBytes(before)} = ${sealedBytes(after)} AS is_same
         FROM usage_records ORDER BY unpriced_units`,
      ),
    ).toEqual([
      { id: uuidText(plain), is_same: 1 },
      { id: uuidText(unpriced), is_same: 0 },
    ]);
  });

  it.each(['usage_records', 'usage_adjustments'] as const)(
    'are all of %s but what the ledger adds',
    async (table) => {
      const columns = await ledger.rows<{ name: string }>(`DESCRIBE TABLE ${table}`);
      const own = new Set(['stored_at', 'certainty']);
      expect(
        columns
          .map(({ name }) => name)
          .filter((name) => !own.has(name))
          .sort(),
      ).toEqual(Object.values(sealedColumns[table]).flat().sort());
    },
  );
});
