import { randomBytes } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { analytics, usage } from '@sluice/proto-stubs';
import { encodeEntry } from '@sluice/usage';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listRejects } from '../src/rejects/list-rejects.ts';
import { replayRejects } from '../src/rejects/replay-rejects.ts';
import { notAMessage } from '../src/sinks/read-message.ts';
import { type Ledger, openLedger } from './embedded-ledger.ts';
import { encodedRecord } from './usage-records.ts';

let ledger: Ledger;
beforeAll(async () => {
  ledger = await openLedger({ nowMs: Date.now });
});
afterAll(() => ledger.close());
beforeEach(async () => {
  for (const table of ['usage_records', 'usage_rejects'])
    await ledger.client.command({ query: `TRUNCATE TABLE ${table}` });
});

const list = (some: object = {}) =>
  listRejects(ledger.client, create(analytics.ListRejectsRequestSchema, { pageSize: 10, ...some }));
const replay = (some: object = {}) =>
  replayRejects(
    { client: ledger.client, sink: ledger.sink, nowMs: Date.now },
    create(analytics.ReplayRejectsRequestSchema, some),
  );
const ids = async () => (await list()).rejects?.map(({ id }) => id);
const records = () => ledger.rows('SELECT model FROM usage_records FINAL ORDER BY model');
const unreadable = Buffer.from('no record at all');
const noId = encodedRecord({ id: Buffer.alloc(0) });

describe('listRejects', () => {
  it('tells of each the reason, the size and when it came, and whose it is as far as its bytes say', async () => {
    const before = Date.now();
    await ledger.sink.write([noId]);
    await ledger.sink.write([unreadable]);
    const { rejects = [], total } = await list();
    expect(total).toBe(2n);
    expect(rejects.map(({ reason }) => reason)).toEqual([
      'not a UsageRecord',
      'id is not 16 bytes',
    ]);
    expect(rejects[0]).toMatchObject({ size: 16n, organisationId: '' });
    expect(rejects[1]).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{64}$/),
      size: BigInt(noId.length),
      organisationId: 'org-1',
      record: Buffer.from(noId),
    });
    expect(Number(rejects[1]?.receivedAtMs)).toBeGreaterThanOrEqual(before);
  });

  it('is paged, and shows those of one reason', async () => {
    await ledger.sink.write([noId, unreadable]);
    const { rejects, total } = await list({ reason: 'not a UsageRecord' });
    expect([rejects?.length, total]).toEqual([1, 1n]);
    const pages = await Promise.all(
      [0, 1, 2].map((currentPage) => list({ pageSize: 1, currentPage })),
    );
    expect(pages.map((page) => page.rejects?.length)).toEqual([1, 1, 0]);
  });

  it('holds back the bytes of what is large', async () => {
    await ledger.sink.write([
      encodedRecord({ id: Buffer.alloc(0), decisionJson: 'x'.repeat(70_000) }),
    ]);
    const { rejects = [] } = await list();
    expect(Number(rejects[0]?.size)).toBeGreaterThan(70_000);
    expect(rejects[0]).not.toHaveProperty('record');
  });
});

describe('replayRejects', () => {
  /** As a data service keeps it that did not know the kind. */
  const keep = async (bytes: Uint8Array, reason = 'entries of kind life have no table') => {
    await ledger.sink.reject(bytes, reason);
  };

  it('makes rows of what is fit now, once, and lets go of its bytes', async () => {
    await keep(encodedRecord({ model: 'late' }));
    expect(await replay()).toEqual({ stored: 1n, rejected: 0n, nextCursor: '' });
    expect(await replay()).toEqual({ stored: 0n, rejected: 0n, nextCursor: '' });
    expect(await records()).toEqual([{ model: 'late' }]);
    expect(await ids()).toEqual([]);
    expect(
      await ledger.rows(
        'SELECT record_base64, replayed_at > 0 AS is_replayed FROM usage_rejects FINAL',
      ),
    ).toEqual([{ record_base64: '', is_replayed: 1 }]);
  });

  it('keeps what is still unfit, with the reason of now and the time at which it came', async () => {
    await keep(unreadable, 'a reason of old');
    const [before] = (await list()).rejects ?? [];
    expect(await replay()).toMatchObject({ stored: 0n, rejected: 1n });
    const [after] = (await list()).rejects ?? [];
    expect(after).toEqual({ ...before, reason: 'not a UsageRecord' });
  });

  it('reads those of a reason, or those that are named, and leaves the others', async () => {
    await keep(encodedRecord({ model: 'a' }), 'one');
    await keep(encodedRecord({ model: 'b' }), 'two');
    await keep(encodedRecord({ model: 'c' }), 'three');
    await replay({ reason: 'two' });
    expect(await records()).toEqual([{ model: 'b' }]);
    const [named] = (await list({ reason: 'three' })).rejects ?? [];
    await replay({ ids: [named?.id] });
    expect(await records()).toEqual([{ model: 'b' }, { model: 'c' }]);
    expect(await ids()).toHaveLength(1);
  });

  it('takes a whole message for its entries, of which one that is unfit is a reject of its own', async () => {
    const message = toBinary(
      usage.WriteUsageRequestSchema,
      create(usage.WriteUsageRequestSchema, { records: [encodedRecord({ model: 'a' }), noId] }),
    );
    await keep(message, notAMessage);
    await keep(Buffer.from([0xff, 0xff]), notAMessage);
    expect(await replay()).toMatchObject({ stored: 1n, rejected: 1n });
    expect(await records()).toEqual([{ model: 'a' }]);
    const { rejects = [] } = await list();
    expect(rejects.map(({ reason }) => reason).sort()).toEqual(['id is not 16 bytes', notAMessage]);
  });

  it('goes through any number of them, page by page', async () => {
    await Promise.all(Array.from({ length: 45 }, () => keep(encodedRecord(), 'old')));
    const kind = 99 as usage.EntryKind;
    await keep(encodeEntry(kind, randomBytes(8)));
    expect(await replay()).toEqual({ stored: 45n, rejected: 1n, nextCursor: '' });
    expect(await records()).toHaveLength(45);
  });

  it('stops in time, and goes on where it stopped', async () => {
    await Promise.all(Array.from({ length: 25 }, () => keep(encodedRecord(), 'old')));
    let now = 0;
    const parts = { client: ledger.client, sink: ledger.sink, nowMs: () => (now += 10_000) };
    const first = await replayRejects(parts, create(analytics.ReplayRejectsRequestSchema));
    expect(first).toMatchObject({
      stored: 20n,
      nextCursor: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await replay({ cursor: first.nextCursor })).toMatchObject({
      stored: 5n,
      nextCursor: '',
    });
  });
});
