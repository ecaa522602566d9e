import { randomBytes } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { analytics, usage } from '@sluice/proto-stubs';
import { encodeEntry, uuidText } from '@sluice/usage';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listAdjustments } from '../src/queries/list-adjustments.ts';
import { listCharges } from '../src/queries/list-charges.ts';
import { type Ledger, openLedger } from './embedded-ledger.ts';
import { dayMs, encodedAdjustment, encodedRecord } from './usage-records.ts';

let ledger: Ledger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());
beforeEach(async () => {
  for (const table of ['usage_records', 'usage_adjustments', 'usage_rejects'])
    await ledger.client.command({ query: `TRUNCATE TABLE ${table}` });
});

describe('listCharges', () => {
  it('tells of attempts what their price depends on, oldest first, and what was adjusted so far', async () => {
    const id = randomBytes(16);
    await ledger.sink.write([
      encodedRecord({ createdAtMs: BigInt(dayMs + 5), model: 'later' }),
      encodedRecord({
        id,
        serviceTier: 'flex',
        servedRegion: 'us',
        cacheReadAudioTokens: 3n,
        units: { web_search: 2n },
        imagesByKind: { 'hd.1024x1024': 1n },
        images: 1n,
        audioSeconds: 1.5,
        priceMultiplier: 2.5,
        priceLayer: 'catalogue',
      }),
      encodedRecord({ usageReported: false, model: 'counted nothing' }),
      encodedRecord({ decisionJson: '{"parts":[]}', model: 'of several' }),
      encodedRecord({ createdAtMs: BigInt(dayMs - 1), model: 'before' }),
      encodedRecord({ organisationId: 'org-2', model: 'of others' }),
    ]);
    const more = encodedAdjustment({ recordId: id, costNanoUsd: 70n, inputCostNanoUsd: 30n });
    // The same twice is one.
    await ledger.sink.write([more, more, encodedAdjustment({ recordId: id, costNanoUsd: -20n })]);

    const [first, second, ...others] = await charges('org-1');
    expect(others).toEqual([]);
    expect(second?.record?.model).toBe('later');
    expect(second).toMatchObject({ adjusted: false, adjustedNanoUsd: 0n });
    expect(first).toMatchObject({
      adjusted: true,
      adjustedNanoUsd: 50n,
      adjustedInputNanoUsd: 30n,
      record: {
        id: Uint8Array.from(id),
        serviceTier: 'flex',
        servedRegion: 'us',
        inputTokens: 10n,
        outputTokens: 5n,
        cacheReadAudioTokens: 3n,
        units: { web_search: 2n },
        imagesByKind: { 'hd.1024x1024': 1n },
        audioSeconds: 1.5,
        priceMultiplier: 2.5,
        costNanoUsd: 4500n,
        costKnown: true,
        usageReported: true,
      },
    });
    expect((await charges('')).map(({ record }) => record?.model)).toContain('of others');
  });

  it('tells what prices made of an attempt: what administrators added stands beside it', async () => {
    const ids = Array.from({ length: 3 }, () => randomBytes(16));
    const [known, unknown, counted] = ids;
    await ledger.sink.write([
      ...ids.map((id, place) => encodedRecord({ id, createdAtMs: BigInt(dayMs + place) })),
      encodedAdjustment({ recordId: known, costNanoUsd: -500n, author: 'ada' }),
      encodedAdjustment({ recordId: known, costNanoUsd: 7n, inputCostNanoUsd: 5n }),
      encodedAdjustment({ recordId: unknown, costNanoUsd: 90n, author: 'ada', makesKnown: true }),
      encodedAdjustment({ recordId: counted, costNanoUsd: 60n, author: 'ada', inputTokens: 40n }),
      encodedAdjustment({ recordId: counted, costNanoUsd: -2n, author: 'ada', outputTokens: -1n }),
    ]);
    const none = { moreInputTokens: 0n, moreOutputTokens: 0n, costSaid: false };
    expect(await charges('org-1')).toMatchObject([
      { ...none, adjusted: true, adjustedNanoUsd: 7n, adjustedInputNanoUsd: 5n },
      { ...none, adjusted: false, adjustedNanoUsd: 0n, costSaid: true },
      { ...none, adjustedNanoUsd: 58n, moreInputTokens: 40n, moreOutputTokens: -1n },
    ]);
  });

  it('goes on where a page ends, also within a millisecond', async () => {
    const count = 4100;
    for (let first = 0; first < count; first += 1000)
      await ledger.sink.write(
        Array.from({ length: Math.min(1000, count - first) }, () => encodedRecord()),
      );
    const ids = (await charges('org-1')).map(({ record }) =>
      Buffer.from(record?.id ?? []).toString('hex'),
    );
    expect(new Set(ids).size).toBe(count);
    expect(ids.length).toBe(count);
  });

  it('refuses a period that is none, or longer than a month', async () => {
    for (const toMs of [dayMs, dayMs + 40 * 24 * 3600 * 1000]) {
      const request = create(usage.ListChargesRequestSchema, {
        fromMs: BigInt(dayMs),
        toMs: BigInt(toMs),
      });
      await expect(listCharges(ledger.client, request).next()).rejects.toThrow('period');
    }
  });
});

describe('listAdjustments', () => {
  const list = (some: object) =>
    listAdjustments(
      ledger.client,
      create(analytics.ListAdjustmentsRequestSchema, {
        organisationId: 'org-1',
        pageSize: 10,
        ...some,
      }),
    );

  it('shows them whole, the latest first, once, by record, id and time, and those of the organisation only', async () => {
    const recordId = randomBytes(16);
    const id = randomBytes(16);
    const first = encodedAdjustment({
      id,
      recordId,
      costNanoUsd: -20n,
      inputTokens: -3n,
      outputTokens: 4n,
      author: 'ada',
      priceBookVersion: 'files@1',
    });
    const later = BigInt(dayMs + 2 * 24 * 3600 * 1000);
    await ledger.sink.write([
      first,
      first,
      encodedAdjustment({ recordId, createdAtMs: later, costNanoUsd: 7n }),
      encodedAdjustment({ createdAtMs: later + 1n }),
      encodedAdjustment({ organisationId: 'org-2' }),
    ]);
    const { adjustments = [], total } = await list({ recordId: uuidText(recordId) });
    expect(total).toBe(2n);
    expect(adjustments.map(({ costNanoUsd }) => costNanoUsd)).toEqual([7n, -20n]);
    expect(adjustments[1]).toEqual({
      id: Buffer.from(id),
      recordId: Buffer.from(recordId),
      organisationId: 'org-1',
      workspaceId: 'ws-1',
      attemptCreatedAtMs: BigInt(dayMs),
      createdAtMs: BigInt(dayMs + 24 * 3600 * 1000),
      costNanoUsd: -20n,
      inputCostNanoUsd: 0n,
      outputCostNanoUsd: 0n,
      makesKnown: false,
      priceLayer: '',
      priceBookVersion: 'files@1',
      reason: 'reprice',
      author: 'ada',
      inputTokens: -3n,
      outputTokens: 4n,
    });
    expect(await list({ id: uuidText(id) })).toMatchObject({ total: 1n });
    expect(await list({})).toMatchObject({ total: 3n });
    expect(await list({ fromMs: later, toMs: later })).toMatchObject({ total: 1n });
    expect((await list({ pageSize: 2, currentPage: 1 })).adjustments).toHaveLength(1);
    await expect(list({ id: "x' OR 1" })).rejects.toThrow('UUID');
  });
});

describe('usage_adjustments', () => {
  it('keeps an adjustment whole, and rejects one that belongs to nothing', async () => {
    await ledger.sink.write([
      encodedAdjustment({ makesKnown: true, priceLayer: 'file', priceBookVersion: 'files@1' }),
      encodeEntry(usage.EntryKind.ADJUSTMENT, Buffer.from([])),
    ]);
    const rows = await ledger.rows(
      'SELECT * EXCEPT (id, record_id, stored_at) FROM usage_adjustments',
    );
    expect(rows).toEqual([
      {
        organisation_id: 'org-1',
        workspace_id: 'ws-1',
        attempt_created_at: '2026-03-10 00:00:00.000',
        created_at: '2026-03-11 00:00:00.000',
        cost_nano_usd: 0,
        input_cost_nano_usd: 0,
        output_cost_nano_usd: 0,
        makes_known: true,
        price_layer: 'file',
        price_book_version: 'files@1',
        reason: 'reprice',
        author: '',
        input_tokens: 0,
        output_tokens: 0,
      },
    ]);
    expect(await ledger.rows('SELECT reason FROM usage_rejects')).toHaveLength(1);
  });
});

async function charges(organisationId: string) {
  const request = create(usage.ListChargesRequestSchema, {
    fromMs: BigInt(dayMs),
    toMs: BigInt(dayMs + 24 * 3600 * 1000),
    organisationId,
  });
  const all = [];
  for await (const page of listCharges(ledger.client, request)) all.push(...(page.charges ?? []));
  return all;
}
