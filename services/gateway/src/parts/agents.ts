import { SealedAddresses } from '@sluice/a2a';
import type { HostRules, UpstreamPools } from '@sluice/outbound';
import { callAgent } from '../agents/call-agent.ts';
import { findAgent, refuseMisplacedCard } from '../agents/find-agent.ts';
import { AgentGuards } from '../agents/guards/agent-guards.ts';
import { learnRpcId } from '../agents/learn-rpc-id.ts';
import { recordRefusal } from '../agents/record-refusal.ts';
import { TaskNotes } from '../agents/task-notes.ts';
import type { Guardrails } from '../guardrails/guardrails.ts';
import type { NewerBundles } from '../held/newer-bundles.ts';
import type { Identities } from '../identity/tell-identity.ts';
import type { CallMeter } from '../metering/call-meter.ts';
import type { SharedStore } from '../redis/shared-store.ts';
import type { Env } from '../settings.ts';

export interface AgentsParts {
  pools: UpstreamPools;
  hostRules: HostRules;
  meter: CallMeter;
  guardrails: Guardrails;
  shared: SharedStore | undefined;
  identities: Identities;
  newer: Pick<NewerBundles, 'after'>;
  /** `x-service-api-key`, as it is called here. */
  keyHeader: string;
}

/** What is done with calls of agents. */
export function agentStages(env: Env, { newer, shared, guardrails, ...parts }: AgentsParts) {
  return {
    learnRpcId,
    refuseMisplacedCard,
    recordRefusal: recordRefusal(parts.meter),
    findAgent: findAgent(newer),
    callAgent: callAgent({
      ...parts,
      notes: new TaskNotes(shared),
      guards: new AgentGuards(guardrails),
      sealed: new SealedAddresses(env.SERVICE_CLIENT_AUTH),
      addresses: { mcp: env.MCP_GATEWAY_BASE_URL, public: env.PUBLIC_URL },
      replyBytesMax: env.RESPONSE_BODY_BYTES_MAX,
    }),
  };
}
