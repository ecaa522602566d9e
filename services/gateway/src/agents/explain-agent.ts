import { fromUnknown, type GatewayError } from '@sluice/errors';
import type { Exchange } from '../exchange/exchange.ts';
import type { BodyReply, Reply } from '../exchange/reply.ts';
import { limitRefusal } from '../limits/refusal.ts';
import { type ShownKey, type ShownUse, shownKey, shownUse } from '../metering/shown-call.ts';
import { answerExplained, type WhoExplains } from '../pipeline/explain/answer-explained.ts';
import { explainedLimits } from '../pipeline/explain/explain-limits.ts';
import type { ExplainedLimit } from '../pipeline/explain/explanation.ts';
import type { Stage } from '../pipeline/pipeline.ts';
import { checkKey } from '../pipeline/stages/authenticate.ts';
import { rpcCodeOf } from './agent-error-body.ts';
import type { AgentParts } from './agent-parts.ts';
import { type AgentPlan, agentPlan, billReason } from './agent-plan.ts';
import { eventOf } from './begin-call.ts';
import { withOwnCallbacks } from './callbacks/own-callbacks.ts';
import { destinationOf } from './destination.ts';
import { asksCard, expectCallable } from './expect-callable.ts';
import { type AgentExchange, expectAgentCall } from './find-agent.ts';
import { learnRpcId } from './learn-rpc-id.ts';
import { type Asked, cardRequest, judgeAsked, readAsked } from './read-asked.ts';

export interface ExplainAgentDeps extends WhoExplains {
  readonly findAgent: Stage;
  readonly parts: AgentParts;
}

/** The answer of `POST /v1/explain/agent/{agent}/…`: what the same request would meet, as far as it would get. */
interface AgentExplanation {
  object: 'explain';
  request_id: string;
  /** Null where the request does not get so far that it is known. */
  mode: string | null;
  key: ShownKey;
  bundle_hash: string;
  /** Null where the workspace has no such agent. */
  agent: {
    id: string;
    slug: string;
    name: string;
    /** Of the interface that would be asked; null where it is not known. */
    host: string | null;
    protocol: string;
  } | null;
  /** Of A2A, as its generation calls it; of what is none, HTTP's with the path. */
  method: string | null;
  /** Where the agent would be told to call back; null where the request wants no call. */
  callbacks: 'direct' | 'relayed' | null;
  /** What of the agent's report is billed. */
  bill: AgentPlan['bill'] | null;
  /** In words: why, and what that comes to. */
  bill_reason: string | null;
  limits: ExplainedLimit[];
  price: ShownUse['price'];
  estimate: ShownUse['estimate'];
  /** What the caller would be answered instead; absent = the agent would be asked. */
  would_fail?: {
    status: number;
    code: string;
    /** Of the JSON-RPC error; null for who does not speak it. */
    rpc_code: number | null;
    message: string;
  };
}

/**
 * The decision on a request to an agent, by the code that decides real ones: nobody is asked, no limit is used, and
 * nothing is recorded. The body is the request's; the key needs what the call itself needs.
 */
export function explainAgent(deps: ExplainAgentDeps) {
  return (exchange: Exchange): Promise<Reply> => {
    expectAgentCall(exchange);
    return answerExplained(exchange, deps, () => explain(exchange, deps));
  };
}

async function explain(
  exchange: AgentExchange,
  { findAgent, parts }: ExplainAgentDeps,
): Promise<AgentExplanation> {
  const { key, bundle, arrival, subject } = exchange;
  if (key === undefined || bundle === undefined)
    throw new Error('explain runs after authentication');
  const shown: Shown = {};
  const denied = await faultOf(() =>
    learnRpcId(exchange, async () => {
      checkKey(exchange, key);
      await findAgent(exchange, found);
      await judge(exchange, parts, shown);
      return nothing;
    }),
  );
  const { server } = exchange.subject;
  const plan = server && agentPlan(server);
  const event = server && shown.isRead === true ? eventOf(exchange, shown.asked) : undefined;
  const begin = event && { event, policy: plan?.policy, request: shown.asked?.body };
  const checks = begin === undefined ? [] : await parts.meter.peek(exchange, begin);
  const refusal = denied ?? limitRefusal(checks);
  const { rpcId } = subject;
  return {
    object: 'explain',
    request_id: arrival.requestIdText,
    mode: event?.mode ?? null,
    key: shownKey(key),
    bundle_hash: bundle.source.hash,
    agent:
      server === undefined || plan === undefined
        ? null
        : {
            id: server.source.id,
            slug: server.source.slug,
            name: server.source.name,
            host: shown.host ?? null,
            protocol: plan.protocol,
          },
    method: event?.method ?? null,
    callbacks: shown.callbacks ?? null,
    bill: plan?.bill ?? null,
    bill_reason: plan === undefined ? null : billReason(plan, parts.children.isAlone),
    limits: explainedLimits(checks, null),
    ...shownUse(begin?.event.spends === true ? parts.meter.foresee(begin) : undefined),
    ...(refusal !== undefined && {
      would_fail: {
        status: refusal.status,
        code: refusal.code,
        rpc_code: rpcId === undefined ? null : rpcCodeOf(refusal),
        message: refusal.message,
      },
    }),
  };
}

/** What became known of a request on the way to its refusal, or past it. */
interface Shown {
  isRead?: boolean;
  asked?: Asked | undefined;
  host?: string;
  callbacks?: 'direct' | 'relayed';
}

/** As `callAgent` does before it asks the limits. @throws GatewayError */
async function judge(exchange: AgentExchange, parts: AgentParts, shown: Shown): Promise<void> {
  const { subject, arrival } = exchange;
  const { server } = subject;
  if (server === undefined) throw new Error('agents are judged once they are found');
  const plan = agentPlan(server);
  expectCallable(plan, subject);
  if (asksCard(plan, arrival.method, subject)) shown.asked = cardRequest;
  else if (plan.protocol === 'a2a') shown.asked = await readAsked(exchange);
  shown.isRead = true;
  const { asked } = shown;
  if (asked !== undefined) {
    await judgeAsked(exchange, asked, plan, parts);
    if (asked.callbacks.length > 0 && plan.pushes !== undefined) {
      shown.callbacks = plan.pushes;
      if (plan.pushes === 'relayed' && asked.body !== undefined)
        withOwnCallbacks(asked.body, exchange, parts.callbacks);
    }
  }
  shown.host = destinationOf(server, subject.remainder, parts).base.host;
}

const nothing: BodyReply = { kind: 'body', status: 200, headers: {}, body: Buffer.alloc(0) };
const found = () => Promise.resolve(nothing);

/** @throws what is a fault of ours */
async function faultOf(check: () => Promise<unknown>): Promise<GatewayError | undefined> {
  try {
    await check();
    return undefined;
  } catch (caught) {
    const error = fromUnknown(caught);
    if (error.code === 'internal') throw caught;
    return error;
  }
}
