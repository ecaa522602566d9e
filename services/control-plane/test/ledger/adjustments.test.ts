import { randomUUID } from 'node:crypto';
import { fromBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { type analytics, usage } from '@sluice/proto-stubs';
import { readEntry } from '@sluice/usage';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../support/harness.ts';
import { heldLogs, heldRequestId } from '../support/held-logs.ts';

let h: Harness;
const written: usage.Adjustment[] = [];
/** The attempt that the ledger holds: by which id, and what it used. */
const used = { inputTokens: 2000n, outputTokens: 50n, usageReported: true };
let attempt: Partial<Omit<usage.UsageRecord, 'id'>> & { id: string } = { id: heldRequestId };
/** What the ledger does before it answers. */
let beforeLog: () => Promise<void> = async () => {};
beforeAll(async () => {
  h = await startHarness({
    analytics: {},
    logs: {
      async getLog(asked, context) {
        await beforeLog();
        const id = asked.id === attempt.id ? heldRequestId : asked.id;
        const { attempts = [], entry } = (await heldLogs(h.first).getLog(
          { ...asked, id },
          context,
        )) as MessageInitShape<typeof analytics.GetLogResponseSchema>;
        const bytes = Buffer.from(attempt.id.replaceAll('-', ''), 'hex');
        return {
          entry,
          attempts: attempts.map(
            (one) =>
              ({ ...one, ...attempt, id: bytes }) as MessageInitShape<
                typeof usage.UsageRecordSchema
              >,
          ),
        };
      },
    },
    onUsage: (records) => {
      for (const bytes of records)
        written.push(fromBinary(usage.AdjustmentSchema, readEntry(bytes).body));
    },
  });
});
beforeEach(() => written.splice(0));
afterAll(() => h.stop());

const about = { record_id: heldRequestId, reason: 'Given back' };
const adjust = (body: object, key: string = h.first.admin_key) =>
  h.as(key).post('/ledger/adjustments', body);

describe('POST /ledger/adjustments', () => {
  it('writes the difference beside the record, with who asked for it', async () => {
    const { body } = await adjust({ ...about, cost: -1.25, price_version: 'bill-7' }).expect(200);
    expect(body).toMatchObject({
      record_id: heldRequestId,
      workspace_id: h.first.workspace_id,
      record_created_at: '2025-01-01T00:00:00.000Z',
      cost: -1.25,
      reason: 'Given back',
      author: expect.stringMatching(/^[0-9a-f-]{36}$/),
      price_version: 'bill-7',
    });
    expect(written).toMatchObject([
      {
        organisationId: h.first.organisation_id,
        workspaceId: h.first.workspace_id,
        attemptCreatedAtMs: 1735689600000n,
        costNanoUsd: -12_500_000n,
        // Nobody knew the cost before.
        makesKnown: true,
      },
    ]);
    await adjust({ ...about, cost: 1 }).expect(200);
    expect(written[1]).toMatchObject({ makesKnown: false });
  });

  it('prices tokens by the list, as the cost with them less the cost without', async () => {
    const { body } = await adjust({ ...about, input_tokens: 1000, output_tokens: 100 }).expect(200);
    // 1,000 tokens at $2.50 and 100 at $10 a million.
    expect(body).toMatchObject({ cost: 0.35, input_tokens: 1000, output_tokens: 100 });
    expect(body.price_version).toEqual(expect.any(String));
    expect(written[0]).toMatchObject({
      costNanoUsd: 3_500_000n,
      inputCostNanoUsd: 2_500_000n,
      outputCostNanoUsd: 1_000_000n,
    });
    const back = await adjust({ ...about, input_tokens: -1000 }).expect(200);
    expect(back.body.cost).toBe(-0.25);
    const refused = await adjust({ ...about, input_tokens: -1 }).expect(400);
    expect(refused.body.data.field).toBe('body.input_tokens');
  });

  it('prices all that was used where nobody knew what it cost: tokens make it known', async () => {
    // No other adjustment made it known before.
    attempt = { id: randomUUID(), ...used };
    const record = { record_id: attempt.id, reason: 'Counted late' };
    try {
      const { body } = await adjust({ ...record, input_tokens: 1000 }).expect(200);
      // 3,000 tokens at $2.50 and 50 at $10 a million.
      expect(body).toMatchObject({ cost: 0.8, input_tokens: 1000 });
      expect(written[0]).toMatchObject({
        makesKnown: true,
        costNanoUsd: 8_000_000n,
        inputCostNanoUsd: 7_500_000n,
        outputCostNanoUsd: 500_000n,
      });
      const next = await adjust({ ...record, output_tokens: -50 }).expect(200);
      expect(next.body.cost).toBe(-0.05);
    } finally {
      attempt = { id: heldRequestId };
    }
  });

  it('prices tokens as they were when the request came in, not when its attempt began', async () => {
    // DeepSeek's peak ends at 04:00 UTC, this Monday as well.
    const peakEndsMs = Date.UTC(2026, 10, 30, 4);
    const cameIn = Buffer.from(heldRequestId.replaceAll('-', ''), 'hex');
    cameIn.writeUIntBE(peakEndsMs - 1, 0, 6);
    attempt = {
      ...{ id: randomUUID(), ...used, provider: 'deepseek', model: 'deepseek-v4-flash' },
      requestId: new Uint8Array(cameIn),
      createdAtMs: BigInt(peakEndsMs + 1),
      costKnown: true,
    };
    const record = { record_id: attempt.id, reason: 'Counted late' };
    try {
      const { body } = await adjust({ ...record, input_tokens: 100_000 }).expect(200);
      // At $0.30 a million, where a minute later it is half.
      expect(body.cost).toBe(3);
    } finally {
      attempt = { id: heldRequestId };
    }
  });

  it('makes one of an id that is sent again, and refuses it for another', async () => {
    const asked = { ...about, id: randomUUID(), cost: 2 };
    const [one, other] = await Promise.all([adjust(asked), adjust(asked)]);
    expect([one.status, other.status]).toEqual([200, 200]);
    expect(other.body).toEqual(one.body);
    expect(written).toHaveLength(1);
    const { body } = await adjust({ ...asked, cost: 3 }).expect(409);
    expect(body.data).toMatchObject({ errorCode: 'AB07', field: 'body.id' });
    expect(written).toHaveLength(1);
  });

  it('holds up no other change while the ledger does not answer', async () => {
    const asked = Promise.withResolvers<void>();
    const mayAnswer = Promise.withResolvers<void>();
    beforeLog = async () => {
      asked.resolve();
      await mayAnswer.promise;
    };
    try {
      const adjusting = adjust({ ...about, cost: 7 }).then(({ status }) => status);
      await asked.promise;
      const { status } = await h
        .as(h.first.admin_key)
        .post('/admin/workspaces', { name: 'Second' });
      await h.as(h.first.workspace_key).post('/feedback', { trace_id: 't', value: 1 }).expect(200);
      mayAnswer.resolve();
      expect([status, await adjusting]).toEqual([200, 200]);
    } finally {
      mayAnswer.resolve();
      beforeLog = async () => {};
    }
  });

  it('knows no record of others, and none that is not there', async () => {
    await adjust({ ...about, cost: 1 }, h.other.admin_key).expect(404);
    await adjust({ ...about, record_id: randomUUID(), cost: 1 }).expect(404);
    expect(written).toEqual([]);
  });

  it('takes a cost or tokens, not both, and not neither', async () => {
    await adjust({ ...about, cost: 1, input_tokens: 1 }).expect(400);
    await adjust(about).expect(400);
  });

  it('is written into the audit log', async () => {
    const { body } = await adjust({ ...about, cost: 5 }).expect(200);
    const audit = await h
      .as(h.first.admin_key)
      .get('/audit-logs?start_time=2020-01-01&end_time=2099-01-01&resource_type=ledger_adjustments')
      .expect(200);
    expect(audit.body.records[0]).toMatchObject({
      action: 'create',
      resource_id: body.id,
      after: expect.stringContaining('"cost":5'),
    });
  });
});
