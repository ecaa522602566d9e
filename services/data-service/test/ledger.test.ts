import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, ScalarType, toBinary } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import { protocol } from '@sluice/rpc';
import { encodeEntry, uuidText } from '@sluice/usage';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { applySchema, schemaFolder } from '../src/clickhouse/apply-schema.ts';
import { UsageColumns } from '../src/sinks/usage-columns.gen.ts';
import { type Ledger, openLedger } from './embedded-ledger.ts';
import { encodedRecord } from './usage-records.ts';

let ledger: Ledger;

beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());
beforeEach(async () => {
  for (const table of ['usage_records', 'usage_rejects'])
    await ledger.client.command({ query: `TRUNCATE TABLE ${table}` });
});

describe('the engine inside the process', () => {
  it('answers, stores and leaves files a thread while questions take their time', async () => {
    const ended: string[] = [];
    const told = (name: string) => () => ended.push(name);
    const slow = Array.from({ length: 4 }, () =>
      ledger.rows('SELECT sleep(3)').then(told('a question')),
    );
    await Promise.all([
      ledger.sink.write([encodedRecord()]).then(told('a record')),
      readdir(schemaFolder).then(told('a file')),
    ]);
    expect(ended.toSorted()).toEqual(['a file', 'a record']);
    await Promise.all(slow);
  });
});

describe('schema', () => {
  it('is applied once, and again without effect', async () => {
    expect(await applySchema(ledger.client, schemaFolder)).toEqual([]);
    const files = (await readdir(schemaFolder)).sort();
    expect(files.length).toBeGreaterThan(0);
    expect(await ledger.rows('SELECT name FROM schema_files FINAL ORDER BY name')).toEqual(
      // The release that brought them stands beside them.
      [...files, `protocol ${protocol}`].map((name) => ({ name })),
    );
  });

  it('refuses a file that changed after it was applied', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'schema-'));
    await writeFile(join(folder, '0001_usage_records.sql'), 'SELECT 1');
    await expect(applySchema(ledger.client, folder)).rejects.toThrow('0001_usage_records.sql');
  });
});

describe('usage_records', () => {
  it('has a column for every field of the record, of the type that the intake sends', async () => {
    const fields = usage.UsageRecordSchema.fields.map(({ name }) => name.replace(/_at_ms$/, '_at'));
    const columns = await ledger.rows<{ name: string; type: string }>(
      "SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = 'usage_records' ORDER BY position",
    );
    const ours = ['stored_at', 'certainty'];
    const others = columns.filter(({ name }) => !ours.includes(name));
    expect(others.map(({ name }) => name)).toEqual(fields);
    expect(Object.entries(new UsageColumns()).map(([name, { type }]) => ({ name, type }))).toEqual(
      others,
    );
  });

  it('gives back every value that was written, also awkward ones', async () => {
    const odd = 'tab\tline\nquote\'"back\\slash\0 {x:String} é😀';
    const id = randomBytes(16);
    const record = create(usage.UsageRecordSchema, {
      id,
      requestId: id,
      createdAtMs: BigInt(Date.UTC(2026, 1, 2, 3, 4, 5, 678)),
    });
    for (const { localName, fieldKind, ...field } of usage.UsageRecordSchema.fields) {
      const values = record as unknown as Record<string, unknown>;
      const isCounts = 'scalar' in field && field.scalar === ScalarType.UINT64;
      if (fieldKind === 'map')
        values[localName] = isCounts ? { [odd]: 2n ** 63n, '': 0n } : { [odd]: odd, '': '' };
      else if (fieldKind === 'list') values[localName] = [odd, `${odd} ${localName}`];
      else if (fieldKind === 'enum') values[localName] = usage.Outcome.CALLER_GONE;
      else if (typeof values[localName] === 'string') values[localName] = `${odd} ${localName}`;
      else if (typeof values[localName] === 'boolean') values[localName] = true;
      else if (localName.startsWith('created')) continue;
      else if (typeof values[localName] === 'bigint')
        values[localName] = 2n ** 63n - BigInt((field as { number: number }).number);
      else if (typeof values[localName] === 'number')
        values[localName] = localName.endsWith('Ms') ? 0.1 : 4_000;
    }
    record.retryCount = -1;
    // Among others that have nothing of it.
    const plain = () => encodedRecord({ createdAtMs: BigInt(Date.UTC(2026, 1)) });
    await ledger.sink.write([plain(), toBinary(usage.UsageRecordSchema, record), plain()]);
    const [stored] = await ledger.rows(
      'SELECT * EXCEPT (stored_at, certainty) FROM usage_records FINAL WHERE retry_count = -1 SETTINGS output_format_json_quote_64bit_integers = 1',
    );
    const { createdAtMs: _, outcome: _outcome, ...same } = record;
    const expected = Object.fromEntries(
      usage.UsageRecordSchema.fields
        .filter(({ localName }) => localName in same)
        .map(({ name, localName }) => {
          const value = record[localName as keyof typeof same];
          return [name, value instanceof Uint8Array ? uuidText(value) : withoutBigints(value)];
        }),
    );
    expect(stored).toEqual({
      ...expected,
      created_at: '2026-02-02 03:04:05.678',
      outcome: 'caller_gone',
      entry_id: noId,
    });
  });

  it('counts a record once however often it arrives, in one batch, in many parts, and after merges', async () => {
    const records = Array.from({ length: 50 }, () => encodedRecord());
    await ledger.client.command({ query: 'SYSTEM STOP MERGES usage_records' });
    await ledger.sink.write([...records, ...records.slice(0, 10)]);
    for (let copy = 0; copy < 3; copy += 1) await ledger.sink.write(records.slice(copy));
    const parts = "SELECT count() AS n FROM system.parts WHERE table = 'usage_records' AND active";
    expect(await ledger.rows(parts)).toEqual([{ n: 4 }]);
    const figures = 'SELECT count() AS n, sum(input_tokens) AS tokens FROM usage_records FINAL';
    expect(await ledger.rows('SELECT count() AS n FROM usage_records')).not.toEqual([{ n: 50 }]);
    expect(await ledger.rows(figures)).toEqual([{ n: 50, tokens: 500 }]);
    await ledger.client.command({ query: 'SYSTEM START MERGES usage_records' });
    await ledger.client.command({ query: 'OPTIMIZE TABLE usage_records FINAL' });
    expect(await ledger.rows('SELECT count() AS n FROM usage_records')).toEqual([{ n: 50 }]);
  });

  it.each(['before', 'after'])(
    'prefers the real end of an attempt to the guess that it was lost, arriving %s',
    async (when) => {
      const id = randomBytes(16);
      const real = encodedRecord({ id });
      const lost = encodedRecord({ id, outcome: usage.Outcome.LOST, inputTokens: 0n });
      for (const record of when === 'before' ? [real, lost] : [lost, real])
        await ledger.sink.write([record]);
      expect(await ledger.rows('SELECT outcome, input_tokens FROM usage_records FINAL')).toEqual([
        { outcome: 'success', input_tokens: 10 },
      ]);
    },
  );

  it('stores one batch with records of very many months', async () => {
    const months = Array.from({ length: 150 }, (_, month) =>
      encodedRecord({ createdAtMs: BigInt(Date.UTC(2020, month)) }),
    );
    await ledger.sink.write(months);
    expect(await ledger.rows('SELECT count() AS n FROM usage_records FINAL')).toEqual([{ n: 150 }]);
  });
});

const noId = '00000000-0000-0000-0000-000000000000';

/** As JSON has them, where numbers lose digits. */
function withoutBigints(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? each.toString() : each)),
  );
}

describe('usage_rejects', () => {
  it('keeps the bytes and the reason of what is not a record, and the rest is stored', async () => {
    const garbage = Buffer.from([0xff, 0xff, 0xff, 0x01, 0x02]);
    const badId = encodedRecord({ id: Buffer.from('short') });
    const badTime = encodedRecord({ createdAtMs: -1n });
    const one = { metadata: { a: 'x', b: 'y' }, wouldHaveRefused: ['x'], traceId: 'one' };
    const bad = { metadata: { c: 'z', d: 'z' }, wouldHaveRefused: ['z', 'z'], traceId: 'bad' };
    const torn = encodedRecord({ ...bad, latencyMs: 7, units: { z: 1n } }).subarray(0, -1);
    const noText = Buffer.concat([encodedRecord(bad), Buffer.from([0x1a, 2, 0xc3, 0x28])]);
    await ledger.sink.write([
      encodedRecord(one),
      garbage,
      badId,
      badTime,
      torn,
      noText,
      encodedRecord({ traceId: 'two' }),
    ]);
    await ledger.sink.write([garbage]);
    expect(
      await ledger.rows(
        'SELECT trace_id, metadata, would_have_refused, units FROM usage_records FINAL ORDER BY trace_id',
      ),
    ).toEqual([
      { trace_id: 'one', metadata: one.metadata, would_have_refused: ['x'], units: {} },
      // Nothing of those before it.
      { trace_id: 'two', metadata: {}, would_have_refused: [], units: {} },
    ]);
    const rejects = await ledger.rows<{ reason: string; record_base64: string }>(
      'SELECT reason, record_base64 FROM usage_rejects FINAL ORDER BY reason, length(record_base64)',
    );
    expect(rejects).toEqual([
      {
        reason: 'created_at_ms is not within 2020 to 2099',
        record_base64: Buffer.from(badTime).toString('base64'),
      },
      { reason: 'id is not 16 bytes', record_base64: Buffer.from(badId).toString('base64') },
      ...[garbage, noText, torn].map((bytes) => ({
        reason: 'not a UsageRecord',
        record_base64: Buffer.from(bytes).toString('base64'),
      })),
    ]);
  });

  it('keeps what is of a kind that it has no table for, known or not, as it came', async () => {
    const kinds = [usage.EntryKind.TOOL_CALL, 200 as usage.EntryKind];
    const entries = kinds.map((kind) => encodeEntry(kind, encodedRecord()));
    const torn = Buffer.from(entries[0]!.subarray(0, 9));
    await ledger.sink.write([encodedRecord(), ...entries, torn]);
    expect(await ledger.rows('SELECT count() AS n FROM usage_records FINAL')).toEqual([{ n: 1 }]);
    const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
    expect(
      await ledger.rows('SELECT reason, record_base64 FROM usage_rejects FINAL ORDER BY reason'),
    ).toEqual([
      { reason: 'entries of kind kind-200 have no table', record_base64: base64(entries[1]!) },
      { reason: 'entries of kind tool-call have no table', record_base64: base64(entries[0]!) },
      { reason: 'not an entry', record_base64: base64(torn) },
    ]);
  });

  it('does not let figures that are no numbers fail a batch', async () => {
    await ledger.sink.write([
      encodedRecord({ latencyMs: Number.NaN, gatewayMs: Number.POSITIVE_INFINITY }),
    ]);
    expect(await ledger.rows('SELECT latency_ms, gateway_ms FROM usage_records')).toEqual([
      { latency_ms: 0, gateway_ms: 0 },
    ]);
  });
});
