import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { create, toBinary } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import type { UsageSink } from '../sinks/usage-sink.ts';
import { filledOrganisation } from './fill-ledger.ts';

const everyMs = 200;

/** Writes so many records a second, of the moment, through the sink as gateways do. */
export async function writeSteadily(
  sink: UsageSink,
  { perSecond, stopping }: { perSecond: number; stopping: AbortSignal },
): Promise<void> {
  let sequence = 0;
  let dueMs = performance.now();
  while (!stopping.aborted) {
    const records = Array.from({ length: (perSecond * everyMs) / 1000 }, () => {
      sequence += 1;
      return recordOf(sequence, Date.now());
    });
    // Not waited for: what is slow must not thin what arrives.
    sink.write(records).catch(() => {});
    dueMs += everyMs;
    await delay(Math.max(0, dueMs - performance.now()), undefined, { signal: stopping }).catch(
      () => {},
    );
  }
  await sink.close(5000);
}

/** A record of that moment. */
export function recordOf(sequence: number, now: number): Uint8Array {
  const id = randomBytes(16);
  id.writeUIntBE(now, 0, 6);
  id[6] = 0x70 | (id[6]! & 0x0f);
  return toBinary(
    usage.UsageRecordSchema,
    create(usage.UsageRecordSchema, {
      id,
      requestId: id,
      traceId: id.toString('hex', 8),
      replicaId: 'replica-2',
      sequence: BigInt(sequence),
      createdAtMs: BigInt(now),
      organisationId: filledOrganisation,
      workspaceId: `ws-${sequence % 3}`,
      apiKeyId: `key-${sequence % 200}`,
      endpoint: 'chatComplete',
      provider: 'openai',
      providerSlug: `saved-${sequence % 5}`,
      model: `model-${sequence % 12}`,
      configSlug: `pc-${sequence % 20}`,
      cacheStatus: 'MISS',
      outcome: usage.Outcome.SUCCESS,
      statusCode: 200,
      inputTokens: BigInt(200 + (sequence % 4000)),
      outputTokens: BigInt(sequence % 1000),
      usageReported: true,
      costKnown: true,
      costNanoUsd: BigInt(sequence % 50_000),
      latencyMs: 50 + (sequence % 3000),
      metadata: { _user: `user-${sequence % 10_000}`, team: `team-${sequence % 40}` },
    }),
  );
}
