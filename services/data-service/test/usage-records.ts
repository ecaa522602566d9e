import { randomBytes } from 'node:crypto';
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { analytics, usage } from '@sluice/proto-stubs';
import { encodeEntry } from '@sluice/usage';

/** The tests' day: an arbitrary UTC midnight. */
export const dayMs = Date.UTC(2026, 2, 10);

let sequence = 0;

/** An encoded record of a plain successful request, changed as asked. */
export function encodedRecord(
  some: MessageInitShape<typeof usage.UsageRecordSchema> = {},
): Uint8Array {
  sequence += 1;
  return toBinary(
    usage.UsageRecordSchema,
    create(usage.UsageRecordSchema, {
      id: randomBytes(16),
      requestId: randomBytes(16),
      replicaId: 'replica-1',
      sequence: BigInt(sequence),
      createdAtMs: BigInt(dayMs),
      organisationId: 'org-1',
      workspaceId: 'ws-1',
      provider: 'openai',
      model: 'gpt-4o-mini',
      outcome: usage.Outcome.SUCCESS,
      statusCode: 200,
      inputTokens: 10n,
      outputTokens: 5n,
      usageReported: true,
      costKnown: true,
      costNanoUsd: 4500n,
      latencyMs: 100,
      ...some,
    }),
  );
}

/** The entry of an adjustment a day later, changed as asked. */
export function encodedAdjustment(
  some: MessageInitShape<typeof usage.AdjustmentSchema>,
): Uint8Array {
  const body = toBinary(
    usage.AdjustmentSchema,
    create(usage.AdjustmentSchema, {
      id: randomBytes(16),
      recordId: randomBytes(16),
      organisationId: 'org-1',
      workspaceId: 'ws-1',
      attemptCreatedAtMs: BigInt(dayMs),
      createdAtMs: BigInt(dayMs + 24 * 3600 * 1000),
      reason: 'reprice',
      ...some,
    }),
  );
  return encodeEntry(usage.EntryKind.ADJUSTMENT, body);
}

/** The whole test day of one organisation, changed as asked. */
export function dayFilter(some: MessageInitShape<typeof analytics.FilterSchema> = {}) {
  return create(analytics.FilterSchema, {
    organisationId: 'org-1',
    fromMs: BigInt(dayMs),
    toMs: BigInt(dayMs + 24 * 60 * 60 * 1000 - 1),
    ...some,
  });
}
