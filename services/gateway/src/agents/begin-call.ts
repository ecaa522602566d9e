import type { AgentUsage, ToldSoFar } from '@sluice/a2a';
import type { FailureCause, GatewayError } from '@sluice/errors';
import { agentEvent, type ServerEvent } from '../exchange/event.ts';
import type { CounterState } from '../exchange/reservation.ts';
import type { EventOutcome } from '../usage/record-event.ts';
import type { AgentParts } from './agent-parts.ts';
import type { AgentPlan } from './agent-plan.ts';
import type { AgentExchange } from './find-agent.ts';
import { elsewhereOf } from './own-calls.ts';
import type { Asked } from './read-asked.ts';

/** How a call ended. */
export interface AgentEnd {
  readonly outcome: EventOutcome;
  /** What the caller is told. */
  readonly status: number;
  /** Of ours; absent = none. */
  readonly errorCode?: string;
  readonly failureCause?: FailureCause | undefined;
  /** 0 = there was no answer. */
  readonly upstreamStatus?: number;
  readonly firstByteMs?: number;
  /** What content keeps of the answer; absent = nothing. */
  readonly response?: Buffer;
  /** What was read of the answer; absent = nothing. */
  readonly told?: ToldSoFar | undefined;
  /** What it adds to what was counted of its task. */
  readonly usage?: AgentUsage | undefined;
  /** Something was sent: absent = as its outcome has it. */
  readonly isSent?: boolean;
}

/** A call that was noted before it is made. Exactly one record follows. */
export interface BegunCall {
  readonly states: readonly CounterState[];
  /** Once: what is said after the first end is not heard. Resolves when it is kept, and never rejects. */
  end(end: AgentEnd): Promise<void>;
  /** The same of a call that has no answer. @param isSent absent = as its error has it */
  fail(error: GatewayError, isSent?: boolean): Promise<void>;
}

/** What is asked of which agent. @param asked undefined = nobody reads what is said to it */
export function eventOf(
  { subject, arrival }: AgentExchange,
  asked: Pick<Asked, 'id' | 'method'> | undefined,
): ServerEvent {
  const { source } = subject.server ?? {};
  if (source === undefined) throw new Error('agents are called once they are found');
  return agentEvent({
    server: { id: source.id, slug: source.slug },
    method: asked?.method ? asked.method : `${arrival.method} ${subject.remainder || '/'}`,
    rpcId: asked?.id === undefined ? '' : JSON.stringify(asked.id),
  });
}

export interface BeginMore {
  /** Of its checks, filled as they run: each a `HookVerdict` as JSON. Undefined = none run. */
  readonly verdicts?: readonly string[] | undefined;
  /** Where the agent's own calls are summed; undefined = nowhere. */
  readonly sum?: string | undefined;
}

/** @throws GatewayError of a limit, or of the ledger: then the call must not be made */
export async function beginCall(
  parts: Pick<AgentParts, 'meter' | 'notes' | 'children'>,
  exchange: AgentExchange,
  plan: AgentPlan,
  asked: Asked | undefined,
  { verdicts: hookVerdicts = [], sum }: BeginMore,
): Promise<BegunCall> {
  const { subject, arrival, progress } = exchange;
  const event = subject.event ?? eventOf(exchange, asked);
  subject.event = event;
  // The meter records its refusals itself.
  subject.isBegun = true;
  const metered = await parts.meter.begin(exchange, {
    event,
    policy: plan.policy,
    request: asked?.body,
    isStream: subject.wantsStream,
    transportClient: subject.wantsStream ? 'sse' : 'http',
    authType: exchange.key !== undefined && 'validUntilMs' in exchange.key ? 'jwt' : 'api_key',
  });
  progress.attempts++;
  progress.tries++;
  const version = arrival.headers['a2a-version'];
  const protocolVersion = typeof version === 'string' ? version : asked?.version;
  const end = ({ told, usage, ...end }: AgentEnd) =>
    metered.end({
      ...end,
      hookVerdicts,
      protocolVersion,
      upstreamProtocolVersion: protocolVersion,
      rpcErrorCode: told?.errorCode,
      taskId: told?.taskId ?? first(asked?.taskIds),
      contextId: told?.contextId ?? first(asked?.contextIds),
      taskState: told?.state,
      told: usage,
      elsewhere: elsewhereOf(plan, exchange, asked, told, sum, parts),
    });
  return {
    states: metered.states,
    end,
    fail: (error, isSent) =>
      end({
        outcome: outcomeOfFailure(error),
        status: error.status,
        errorCode: error.code,
        failureCause: error.failureCause,
        // At the drain's deadline the message is on its way, and may have been taken.
        isSent: isSent ?? (error.code === 'gateway.draining' ? true : undefined),
      }),
  };
}

export function outcomeOfFailure({ code, status }: GatewayError): EventOutcome {
  if (code === 'request.aborted' || code === 'request.superseded') return 'caller_gone';
  if (answeredOtherwise.has(code)) return 'upstream_error';
  if (code.startsWith('upstream.') || silent.has(code)) return 'upstream_failure';
  return status >= 500 ? 'gateway_error' : 'denied';
}

const answeredOtherwise: ReadonlySet<string> = new Set([
  'agent.redirected',
  'agent.callback_redirected',
  'agent.bad_card',
]);
const silent: ReadonlySet<string> = new Set([
  'agent.unreachable',
  'agent.timeout',
  'agent.callback_unreachable',
  'agent.callback_timeout',
]);

/** Of an answer: an error of the protocol is one too, whatever HTTP says. */
export function outcomeOfAnswer(status: number, told: ToldSoFar | undefined) {
  if (status >= 400) return { outcome: 'upstream_error', errorCode: 'upstream.error' } as const;
  if (told?.errorCode !== undefined)
    return { outcome: 'upstream_error', errorCode: `a2a.${told.errorCode}` } as const;
  return { outcome: 'success' } as const;
}

/** Of an answer that a guardrail, or what nobody could make of it, kept back: it was given all the same, and is paid for. */
export function deniedEnd({ code, status, failureCause }: GatewayError) {
  const outcome = code === 'guardrail.denied' ? 'denied' : 'gateway_error';
  return { outcome, status, errorCode: code, failureCause, isSent: true } as const;
}

function first(names: ReadonlySet<string> | undefined): string | undefined {
  return names?.values().next().value;
}
