import { SealedAddresses } from '@sluice/a2a';
import type { HostRules, UpstreamPools } from '@sluice/outbound';
import type { AgentParts } from '../agents/agent-parts.ts';
import { callAgent } from '../agents/call-agent.ts';
import { callBack } from '../agents/callbacks/call-back.ts';
import { CallbackAddresses } from '../agents/callbacks/callback-addresses.ts';
import { takeCallbacks } from '../agents/callbacks/take-callbacks.ts';
import { findAgent, refuseMisplacedCard } from '../agents/find-agent.ts';
import { AgentGuards } from '../agents/guards/agent-guards.ts';
import { learnRpcId } from '../agents/learn-rpc-id.ts';
import { recordRefusal } from '../agents/record-refusal.ts';
import { TaskNotes } from '../agents/task-notes.ts';
import type { Children } from '../children/children.ts';
import type { Guardrails } from '../guardrails/guardrails.ts';
import type { ConfigStore } from '../held/config-store.ts';
import type { NewerBundles } from '../held/newer-bundles.ts';
import type { Identities } from '../identity/tell-identity.ts';
import type { CallMeter } from '../metering/call-meter.ts';
import type { SharedPart } from '../redis/shared-store.ts';
import type { Env } from '../settings.ts';

export interface AgentsParts {
  pools: UpstreamPools;
  hostRules: HostRules;
  meter: CallMeter;
  guardrails: Guardrails;
  /** As `shareAgents` makes it. */
  shared: SharedPart | undefined;
  children: Children;
  identities: Identities;
  newer: Pick<NewerBundles, 'after'>;
  store: Pick<ConfigStore, 'keyOfHash' | 'bundle'>;
  /** `x-service-api-key`, as it is called here. */
  keyHeader: string;
}

/** What is done with calls of agents, and what with. */
export function agentStages(env: Env, { newer, shared, guardrails, store, ...given }: AgentsParts) {
  const sealed = new SealedAddresses(env.SERVICE_CLIENT_AUTH);
  const addresses = { mcp: env.MCP_GATEWAY_BASE_URL, public: env.PUBLIC_URL };
  const parts: AgentParts = {
    ...given,
    notes: new TaskNotes(shared),
    guards: new AgentGuards(guardrails),
    sealed,
    callbacks: new CallbackAddresses(sealed, addresses),
    addresses,
    replyBytesMax: env.RESPONSE_BODY_BYTES_MAX,
  };
  return {
    parts,
    stages: {
      learnRpcId,
      refuseMisplacedCard,
      recordRefusal: recordRefusal(parts.meter),
      findAgent: findAgent(newer),
      callAgent: callAgent(parts),
      takeCallbacks: takeCallbacks(store, parts.callbacks),
      callBack: callBack(parts),
    },
  };
}
