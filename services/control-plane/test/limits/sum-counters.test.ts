import { type analytics, config } from '@sluice/proto-stubs';
import { waitMs } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../support/harness.ts';

const { sumCounters } = config.ConfigService.method;
const hourMs = 3_600_000;

let h: Harness;
const asked: analytics.SumCountersRequest[] = [];
beforeAll(async () => {
  h = await startHarness({
    analytics: {
      async sumCounters(request) {
        asked.push(request);
        return { sums: { [request.counters[0] ?? '']: 5n } };
      },
    },
  });
});
afterAll(() => h.stop());

const ask = async (counters: string[]) => {
  const organisationId = h.first.organisation_id;
  const request = { organisationId, counters };
  return (await h.rpc.unary(sumCounters, request, { timeoutMs: waitMs })).sums;
};

describe('sums of counters', () => {
  it('are asked of the ledger from the oldest epoch on that is meant', async () => {
    const began = Date.parse('2026-03-01T00:00:00Z');
    expect(await ask([`a@3.${began + 5}`, `b:metadata._user:x@0.${began}`])).toEqual({
      [`a@3.${began + 5}`]: 5n,
    });
    expect(asked.at(-1)).toMatchObject({
      organisationId: h.first.organisation_id,
      counters: [`a@3.${began + 5}`, `b:metadata._user:x@0.${began}`],
      fromMs: BigInt(began - hourMs),
    });
  });

  it('of what has no beginning are asked of all records, and of rates of the last week', async () => {
    await ask(['a@0.0', 'b@29545678']);
    expect(asked.at(-1)?.fromMs).toBe(0n);
    await ask(['b@29545678']);
    expect(Number(asked.at(-1)?.fromMs)).toBeGreaterThan(Date.now() - 7 * 24 * hourMs - 2 * hourMs);
  });

  it('are not asked of nothing, and each once', async () => {
    const before = asked.length;
    expect(await ask([])).toEqual({});
    expect(asked).toHaveLength(before);
    await ask(['a@0.0', 'a@0.0']);
    expect(asked.at(-1)?.counters).toEqual(['a@0.0']);
  });
});
