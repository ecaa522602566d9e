import type { CompiledAgentServer } from '../compiled/agent-servers.ts';
import { readObject } from '../compiled/read-object.ts';
import { type HeaderPlan, headerPlan } from './agent-headers.ts';

/** What agents speak: A2A is read, and what it says is held to; of all else usage alone is read. */
export type AgentProtocol = 'a2a' | 'openai' | 'raw';

/** An agent server's settings made ready for calls. */
export interface AgentPlan {
  readonly protocol: AgentProtocol;
  readonly headers: HeaderPlan;
  /** Until the answer begins, and between two pieces of it. */
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Whether agents may be told to call back: at the caller's address, or at one of ours that passes on; undefined = not. */
  readonly pushes: 'direct' | 'relayed' | undefined;
  /**
   * Of what the agent reports: all is billed, or nothing, since its own calls through the gateway are, or what is more than
   * these came to.
   */
  readonly bill: 'reported' | 'children' | 'max';
  /** An admin chose it. */
  readonly choosesBill: boolean;
  /** As admins set it: prices are looked at. */
  readonly policy: unknown;
  /** A setting that this gateway cannot keep to: the agent is not called. */
  readonly unkept: string | undefined;
}

const headersTimeoutMs = 60_000;
/** Agents are slow, and streams quiet. */
const idleTimeoutMs = 300_000;
const timeoutMsMax = 3_600_000;

const plans = new WeakMap<CompiledAgentServer, AgentPlan>();

export function agentPlan(server: CompiledAgentServer): AgentPlan {
  const known = plans.get(server);
  if (known !== undefined) return known;
  const plan = makePlan(server);
  plans.set(server, plan);
  return plan;
}

function makePlan(server: CompiledAgentServer): AgentPlan {
  const { configurations, source } = server;
  const policy = readObject(source.policyJson) ?? {};
  const { protocol } = source;
  const headers = headerPlan(configurations);
  const bill = configurations.bill;
  return {
    protocol: protocol === 'openai' || protocol === 'raw' ? protocol : 'a2a',
    headers,
    timeoutMs: timeoutIn(policy.request_timeout ?? configurations.timeout_ms, headersTimeoutMs),
    idleTimeoutMs: timeoutIn(configurations.idle_timeout_ms, idleTimeoutMs),
    pushes: pushesOf(configurations.push_notifications),
    choosesBill: bill === 'reported' || bill === 'children' || bill === 'max',
    bill: bill === 'children' || bill === 'max' ? bill : 'reported',
    policy: { prices: policy.prices ?? configurations.prices },
    unkept: headers.unkept,
  };
}

function pushesOf(setting: unknown): AgentPlan['pushes'] {
  if (setting === 'deny') return undefined;
  return setting === 'relay' ? 'relayed' : 'direct';
}

function timeoutIn(value: unknown, fallback: number): number {
  return typeof value === 'number' && value >= 1 && value <= timeoutMsMax
    ? Math.round(value)
    : fallback;
}

/** Why so much of an agent's report is billed, in words. @param isAlone what other gateways saw is not known */
export function billReason({ bill, choosesBill }: AgentPlan, isAlone: boolean): string {
  const by = choosesBill ? 'The integration says so' : 'The integration says nothing else';
  const what = billWords[bill];
  return bill === 'max' && isAlone
    ? `${by}: ${what} Redis does not answer: calls that come in at other gateways are billed beside it.`
    : `${by}: ${what}`;
}

const billWords = {
  reported: 'all that the agent reports is billed, beside what calls of its own are billed.',
  children: 'nothing that the agent reports is billed; calls of its own are.',
  max: 'of what the agent reports is billed what its own calls, which carry the trace state that it was sent, did not come to.',
} as const;
