import { randomBytes } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { analytics, usage } from '@sluice/proto-stubs';
import { encodeEntry } from '@sluice/usage';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listModelDays } from '../src/queries/list-model-days.ts';
import { type Ledger, openLedger } from './embedded-ledger.ts';
import { dayMs, encodedRecord } from './usage-records.ts';

let ledger: Ledger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

it('listModelDays adds up what a provider was asked for, as it would charge it', async () => {
  const id = randomBytes(16);
  const snapshot = 'gpt-4o-mini-2024-07-18';
  const adjustment = create(usage.AdjustmentSchema, {
    id: randomBytes(16),
    recordId: id,
    organisationId: 'org-1',
    workspaceId: 'ws-1',
    attemptCreatedAtMs: BigInt(dayMs),
    createdAtMs: BigInt(dayMs + 9 * 86_400_000),
    costNanoUsd: 100n,
  });
  await ledger.sink.write([
    encodedRecord({ id, responseModel: snapshot }),
    encodedRecord({ responseModel: snapshot, workspaceId: 'ws-2' }),
    encodedRecord({ createdAtMs: BigInt(dayMs + 86_400_000 - 1) }),
    encodedRecord({ createdAtMs: BigInt(dayMs + 86_400_000) }),
    encodedRecord({ provider: 'anthropic' }),
    encodedRecord({ organisationId: 'org-2' }),
    encodedRecord({ outcome: usage.Outcome.LOST }),
    encodedRecord({ cacheStatus: 'HIT' }),
    encodedRecord({ source: 'custom' }),
    encodeEntry(usage.EntryKind.ADJUSTMENT, toBinary(usage.AdjustmentSchema, adjustment)),
  ]);
  const request = create(analytics.ListModelDaysRequestSchema, {
    organisationId: 'org-1',
    provider: 'openai',
    from: '2026-03-10',
    to: '2026-03-10',
  });
  const one = { day: '2026-03-10', requests: 1n, inputTokens: 10n, outputTokens: 5n };
  expect(await listModelDays(ledger.client, request)).toEqual({
    modelDays: [
      { ...one, model: 'gpt-4o-mini', costNanoUsd: 4500n },
      {
        ...one,
        model: snapshot,
        requests: 2n,
        inputTokens: 20n,
        outputTokens: 10n,
        costNanoUsd: 9100n,
      },
    ],
  });
  const wrong = create(analytics.ListModelDaysRequestSchema, { ...request, from: "' OR 1" });
  await expect(listModelDays(ledger.client, wrong)).rejects.toThrow('day');
});
