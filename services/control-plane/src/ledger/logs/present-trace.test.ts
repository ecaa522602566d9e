import { create } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import { describe, expect, it } from 'vitest';
import { presentTrace } from './present-trace.ts';

interface Told {
  readonly request: number;
  readonly span?: string;
  readonly parent?: string;
  readonly cost?: bigint;
}

function idOf(number: number): Uint8Array {
  const id = Buffer.alloc(16);
  id.writeUInt32BE(number);
  return id;
}

function traceOf(first: Told, ...others: Told[]) {
  const recordOf = ({ request, span = '', parent = '', cost = 10_000_000n }: Told) =>
    create(usage.UsageRecordSchema, {
      id: idOf(request),
      requestId: idOf(request),
      traceId: 'a-trace',
      spanId: span,
      parentSpanId: parent,
      outcome: usage.Outcome.SUCCESS,
      statusCode: 200,
      costKnown: cost > 0n,
      costNanoUsd: cost,
      inputTokens: 3n,
      outputTokens: 4n,
    });
  return presentTrace('a-trace', [recordOf(first), ...others.map(recordOf)], {
    isCutOff: false,
    lateHooks: [create(usage.LateHookSchema, { requestId: idOf(2), verdictJson: '{"id":"late"}' })],
    adjusted: [],
  });
}

const places = ({ requests }: ReturnType<typeof traceOf>) =>
  requests.map(({ id, depth }) => [Number(`0x${id.slice(0, 8)}`), depth]);

describe('a trace', () => {
  it('tells hooks that ended later with the request whose they are', () => {
    const { requests } = traceOf({ request: 1 }, { request: 2 });
    expect(requests.map(({ attempts }) => attempts.map(({ hooks }) => hooks))).toEqual([
      [[]],
      [[{ id: 'late' }]],
    ]);
  });

  it('is told depth first, siblings in the order in which they began', () => {
    const trace = traceOf(
      { request: 1, span: 'root' },
      { request: 2, span: 'a', parent: 'root' },
      { request: 3, span: 'b', parent: 'root' },
      { request: 4, parent: 'a' },
      { request: 5 },
    );
    expect(places(trace)).toEqual([
      [1, 0],
      [2, 1],
      [4, 2],
      [3, 1],
      [5, 0],
    ]);
    expect(trace.requests[2]?.parent_request_id).toBe(trace.requests[1]?.id);
    expect(trace.requests[0]?.parent_request_id).toBeNull();
  });

  it('puts the attempts of a request together, and adds up what all cost', () => {
    const trace = traceOf({ request: 1 }, { request: 2 }, { request: 1 });
    expect(trace.requests.map(({ attempts }) => attempts.length)).toEqual([2, 1]);
    expect([trace.cost, trace.total_units]).toEqual([3, 21]);
    expect(traceOf({ request: 1 }, { request: 2, cost: 0n }).cost).toBeNull();
  });

  it('ends for spans that lie in each other or in themselves, and loses none', () => {
    const trace = traceOf(
      { request: 1, span: 'a', parent: 'b' },
      { request: 2, span: 'b', parent: 'a' },
      { request: 3, span: 'c', parent: 'c' },
      { request: 4, span: 'd', parent: 'nobody' },
    );
    // What is in no circle stands at the top; of a circle, the first does.
    expect(places(trace)).toEqual([
      [3, 0],
      [4, 0],
      [1, 0],
      [2, 1],
    ]);
  });

  it('gives a span that two requests name to the first', () => {
    const trace = traceOf(
      { request: 1, span: 'twice' },
      { request: 2, span: 'twice' },
      { request: 3, parent: 'twice' },
    );
    expect(places(trace)).toEqual([
      [1, 0],
      [3, 1],
      [2, 0],
    ]);
  });

  it('may be a thousand deep', () => {
    const [first, ...others] = Array.from({ length: 1000 }, (_, index) => ({
      request: index,
      span: `${index}`,
      parent: `${index - 1}`,
    }));
    if (first === undefined) throw new Error('there is a first');
    expect(traceOf(first, ...others).requests.at(-1)?.depth).toBe(999);
  });
});
