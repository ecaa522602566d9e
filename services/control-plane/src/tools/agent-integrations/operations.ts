import type { AgentCard, BodyOf } from '@sluice/contracts/admin';
import type { Prisma } from '../../generated/prisma/client.ts';
import { noJson } from '../../kernel/database/no-json.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { changeIntegration, createIntegration } from '../registry/integrations.ts';
import { replaceOffers } from '../registry/offers-store.ts';
import type { Registry, RegistryParts } from '../registry/registry.ts';
import type { AgentTypes } from './agent-types.ts';
import { agentKind } from './kind.ts';
import { offersOf } from './skills.ts';

export type AgentRegistry = Registry<AgentTypes>;

export function agentRegistry(parts: RegistryParts): AgentRegistry {
  return { ...parts, kind: agentKind };
}

export function createAgentIntegration(
  call: AdminRequest,
  registry: AgentRegistry,
  body: BodyOf<'agent-integrations.create'>,
) {
  const own = { agentCard: cardColumn(body.agent_card ?? null), protocol: body.protocol };
  return createIntegration(call, registry, body, own, ({ db }, row) =>
    replaceOffers(db, agentKind, row.id, offersOf(body.agent_card ?? null), { now: call.now }),
  );
}

/** A new card brings its skills; those that are off stay off. */
export function changeAgentIntegration(
  call: AdminRequest,
  registry: AgentRegistry,
  reference: string,
  body: BodyOf<'agent-integrations.update'>,
): Promise<void> {
  const card = body.agent_card;
  const own = {
    protocol: body.protocol,
    ...(card === undefined ? {} : { agentCard: cardColumn(card) }),
  };
  return changeIntegration(
    call,
    registry,
    reference,
    body,
    () => own,
    async ({ db }, row) => {
      if (card !== undefined)
        await replaceOffers(db, agentKind, row.id, offersOf(card), { now: call.now });
    },
  );
}

function cardColumn(card: AgentCard | null) {
  return card === null ? noJson : (card as Prisma.InputJsonObject);
}
