import type { AnswerOf } from '@sluice/contracts/admin';
import type { analytics, usage } from '@sluice/proto-stubs';
import { uuidText } from '@sluice/usage';
import { presentRequest } from './present-request.ts';

type Trace = AnswerOf<'traces.read'>;
type Attempts = [usage.UsageRecord, ...usage.UsageRecord[]];

/**
 * The requests of a trace as the tree that their spans make, told depth first:
 * each after the one around it, siblings in the order in which they began.
 * Attempts come in that order too; at least one.
 */
export function presentTrace(
  traceId: string,
  attempts: Attempts,
  {
    isCutOff,
    lateHooks,
    adjusted,
  }: Pick<analytics.ListAttemptsResponse, 'isCutOff' | 'lateHooks' | 'adjusted'>,
): Trace {
  const requests = requestsOf(attempts);
  const hooks = Map.groupBy(lateHooks, ({ requestId }) => uuidText(requestId));
  const shown = inTree(requests).map(({ of, depth, parent }) => {
    const {
      decision: _,
      is_cut_off: __,
      ...request
    } = presentRequest(of, {
      isCutOff,
      adjusted,
      lateHooks: hooks.get(uuidText(of[0].requestId)) ?? [],
      contents: [],
    });
    const { spanId, spanName, parentSpanId } = of[0];
    return {
      ...request,
      depth,
      parent_request_id: parent === undefined ? null : uuidText(parent[0].requestId),
      span_id: spanId,
      span_name: spanName,
      parent_span_id: parentSpanId,
    };
  });
  const costs = shown.map(({ cost }) => cost);
  return {
    object: 'trace',
    id: traceId,
    cost: costs.reduce((sum, cost) => (sum === null || cost === null ? null : sum + cost), 0),
    total_units: shown.reduce((sum, { total_units }) => sum + total_units, 0),
    requests: shown,
    is_cut_off: isCutOff,
  };
}

function requestsOf(attempts: Attempts): Attempts[] {
  const requests = new Map<string, Attempts>();
  for (const attempt of attempts) {
    const id = uuidText(attempt.requestId);
    const others = requests.get(id);
    if (others === undefined) requests.set(id, [attempt]);
    else others.push(attempt);
  }
  return [...requests.values()];
}

interface Placed {
  readonly of: Attempts;
  readonly depth: number;
  readonly parent: Attempts | undefined;
}

/**
 * Spans are named by callers: an id may be told twice, and then the first has
 * it; a parent may be unknown, and then its child stands at the top; spans may
 * lie in each other, and then the first of them does.
 */
function inTree(requests: readonly Attempts[]): Placed[] {
  const bySpan = new Map<string, Attempts>();
  for (const request of requests) {
    const { spanId } = request[0];
    if (spanId !== '' && !bySpan.has(spanId)) bySpan.set(spanId, request);
  }
  const children = new Map<Attempts, Attempts[]>();
  const tops: Attempts[] = [];
  for (const request of requests) {
    const parent = bySpan.get(request[0].parentSpanId);
    if (parent === undefined || parent === request) tops.push(request);
    else children.set(parent, [...(children.get(parent) ?? []), request]);
  }
  const placed: Placed[] = [];
  const isPlaced = new Set<Attempts>();
  // A stack of our own: a trace may be as deep as it is long.
  const placeFrom = (top: Attempts) => {
    const waiting: Placed[] = [{ of: top, depth: 0, parent: undefined }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (isPlaced.has(next.of)) continue;
      isPlaced.add(next.of);
      placed.push(next);
      const { of: parent, depth } = next;
      const inner = (children.get(parent) ?? []).toReversed();
      waiting.push(...inner.map((of) => ({ of, depth: depth + 1, parent })));
    }
  };
  for (const request of tops) placeFrom(request);
  for (const request of requests) if (!isPlaced.has(request)) placeFrom(request);
  return placed;
}
