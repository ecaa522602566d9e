import { hash } from 'node:crypto';
import type { ToldSoFar } from '@sluice/a2a';
import type { ArrivedRequest } from '../exchange/arrived-request.ts';
import { withCallMark } from '../http/call-mark.ts';
import type { BilledElsewhere } from '../metering/billed-elsewhere.ts';
import type { AgentParts } from './agent-parts.ts';
import type { AgentPlan } from './agent-plan.ts';
import type { AgentExchange } from './find-agent.ts';
import { type Asked, placeOf } from './read-asked.ts';

type Deps = Pick<AgentParts, 'children' | 'notes'>;

/** Where what the agent itself calls for this is summed: with the task that is named, else apart. Undefined = nobody asks. */
export function sumOfCall(
  plan: AgentPlan,
  exchange: AgentExchange,
  asked: Asked | undefined,
  { children, notes }: Deps,
): string | undefined {
  if (plan.bill !== 'max') return undefined;
  const [task] = asked?.taskIds ?? [];
  return (task && notes.sumOf(placeOf(exchange), task)) ?? children.newSum();
}

/** The headers by which the agent's own calls are known as such: of a trace, which they go on with. */
export function markedHeaders(
  exchange: AgentExchange,
  sum: string | undefined,
  { children }: Deps,
): Readonly<Record<string, string>> {
  const { arrival } = exchange;
  const mark = children.markFor(exchange, sum);
  if (mark === undefined) return noHeaders;
  const { traceparent, tracestate } = arrival.headers;
  const state = typeof tracestate === 'string' ? tracestate : undefined;
  return {
    // A state without a trace is nobody's to pass on.
    traceparent: typeof traceparent === 'string' ? traceparent : traceparentOf(arrival),
    tracestate: withCallMark(traceparent === undefined ? undefined : state, mark),
  };
}

/** Of who comes with no trace, the request begins one: its record, and those of the agent's own calls, call it by one name. */
export function beginTrace(plan: AgentPlan, exchange: AgentExchange): void {
  const { arrival } = exchange;
  if (plan.bill !== 'max' || arrival.caller.traceId !== undefined) return;
  exchange.arrival = { ...arrival, traceId: arrival.requestId.toString('hex') };
}

/** What of an agent's report is billed with its own calls. Undefined = nothing. */
export function elsewhereOf(
  plan: AgentPlan,
  exchange: AgentExchange,
  asked: Asked | undefined,
  told: ToldSoFar | undefined,
  sum: string | undefined,
  { notes }: Deps,
): BilledElsewhere | undefined {
  if (plan.bill === 'reported') return undefined;
  const { taskId } = told ?? {};
  const ofTask = taskId === undefined ? undefined : notes.sumOf(placeOf(exchange), taskId);
  const sums = new Set([sum, ofTask].filter((one) => one !== undefined));
  return {
    by: plan.bill,
    sums: [...sums],
    isOver: taskId === undefined && (asked?.taskIds.size ?? 0) === 0,
  };
}

/** Of who came with none: the request is where its trace begins. */
function traceparentOf({ traceId, requestId }: ArrivedRequest): string {
  const plain = traceId.replaceAll('-', '').toLowerCase();
  const trace = /^(?!0{32})[0-9a-f]{32}$/.test(plain)
    ? plain
    : hash('sha256', traceId, 'hex').slice(0, 32);
  return `00-${trace}-${requestId.toString('hex', 8, 16)}-01`;
}

const noHeaders = Object.freeze({});
