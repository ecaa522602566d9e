import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { analytics, usage } from '@sluice/proto-stubs';
import { expect, it } from 'vitest';
import { presentRequest } from './present-request.ts';

const idOf = (number: number) => Buffer.alloc(16, number);

function shown(
  costs: readonly (bigint | undefined)[],
  adjusted: readonly MessageInitShape<typeof analytics.AdjustedCostSchema>[],
) {
  const [first, ...others] = costs.map((cost, at) =>
    create(usage.UsageRecordSchema, {
      id: idOf(at),
      outcome: usage.Outcome.SUCCESS,
      statusCode: 200,
      inputTokens: 1n,
      costKnown: cost !== undefined,
      costNanoUsd: cost ?? 0n,
    }),
  );
  const { cost, attempts } = presentRequest([first!, ...others], {
    isCutOff: false,
    lateHooks: [],
    contents: [],
    adjusted: adjusted.map((each) => create(analytics.AdjustedCostSchema, each)),
  });
  return [cost, ...attempts.map((attempt) => [attempt.cost, attempt.adjusted_cost])];
}

it('counts what was added to the cost of an attempt later, and says how much that is', () => {
  const more = { recordId: idOf(1), costNanoUsd: 20_000_000n };
  expect(shown([10_000_000n, 30_000_000n], [more])).toEqual([6, [1, undefined], [5, 2]]);
  expect(shown([10_000_000n, undefined], [{ ...more, makesKnown: true }])).toEqual([
    3,
    [1, undefined],
    [2, 2],
  ]);
  expect(shown([10_000_000n, undefined], [])).toEqual([null, [1, undefined], [null, undefined]]);
});

it('says in words what a code means, where no cause is known', () => {
  const errorOfOne = (some: MessageInitShape<typeof usage.UsageRecordSchema>) =>
    presentRequest([create(usage.UsageRecordSchema, { id: idOf(1), statusCode: 400, ...some })], {
      isCutOff: false,
      lateHooks: [],
      contents: [],
      adjusted: [],
    }).error;
  expect(errorOfOne({ errorCode: 'host.invalid' })).toEqual({
    code: 'host.invalid',
    message: 'The custom host is not allowed.',
  });
  expect(errorOfOne({ errorCode: 'upstream.unreachable', failureCause: 'refused' })).toMatchObject({
    cause: 'refused',
    message: expect.stringContaining('refused'),
  });
  expect(errorOfOne({ errorCode: 'of.a.later.release' })).toEqual({ code: 'of.a.later.release' });
});

it('times what arrived within a request from the arrival of the request', () => {
  const recordAt = (number: number, createdAtMs: bigint, gatewayMs: number, latencyMs: number) =>
    create(usage.UsageRecordSchema, { id: idOf(number), createdAtMs, gatewayMs, latencyMs });
  const { response_time, attempts } = presentRequest(
    [recordAt(1, 1000n, 2, 8), recordAt(2, 1010n, 0.5, 3), recordAt(3, 1014n, 0.25, 6)],
    { isCutOff: false, lateHooks: [], contents: [], adjusted: [] },
  );
  expect(attempts.map((attempt) => attempt.started_after)).toEqual([2, 10.5, 14.25]);
  expect(response_time).toBe(20);
});
