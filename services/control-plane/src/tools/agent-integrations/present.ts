import type { AgentCard, AnswerOf } from '@sluice/contracts/admin';
import type { AgentIntegration } from '../../generated/prisma/client.ts';
import { instant } from '../../kernel/http/shapes.ts';
import type { listOffers, OfferRow } from '../registry/offers-store.ts';
import { presentIntegration } from '../registry/present.ts';
import type { FoundServer } from '../registry/tables.ts';
import type { AgentTypes } from './agent-types.ts';
import { skillType } from './skills.ts';

type Detail = AnswerOf<'agent-integrations.read'>;
type Skill = AnswerOf<'agent-integrations.skills.list'>['data'][number];

/** Whether it is signed in to by headers of the admin's; they are sent with every call. */
export function hasHeaders(configurations: unknown): boolean {
  const { custom_headers: custom, headers } = configurations as Record<string, unknown>;
  return [custom, headers].some(
    (each) => typeof each === 'object' && each !== null && Object.keys(each).length > 0,
  );
}

/** As it is called: who has headers signs in by them, whatever was said when it was made. */
export function agentAuthType(row: Pick<AgentIntegration, 'authType' | 'configurations'>) {
  return hasHeaders(row.configurations) ? 'headers' : (row.authType as Detail['auth_type']);
}

export function presentAgentIntegration(row: AgentIntegration) {
  return {
    ...presentIntegration(row),
    auth_type: agentAuthType(row),
    protocol: row.protocol as Detail['protocol'],
  };
}

/** With its card, which is too much for a list. */
export function presentAgentIntegrationDetail(row: AgentIntegration) {
  return { ...presentAgentIntegration(row), agent_card: row.agentCard as AgentCard | null };
}

export function presentSkill(row: OfferRow): Skill {
  const { name, description, tags } = row.detail;
  return {
    id: row.name,
    name: typeof name === 'string' ? name : row.name,
    description: typeof description === 'string' ? description : null,
    tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [],
    enabled: row.enabled,
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
  };
}

export function presentSkillCounts(counts: Awaited<ReturnType<typeof listOffers>>['counts']) {
  return { skills: counts.get(skillType) ?? { total: 0, enabled: 0 } };
}

/** Which integration is behind a server. */
export function presentBehind({ integrationId, integration }: FoundServer<AgentTypes>) {
  return { agent_integration_id: integrationId, agent_integration_slug: integration.slug };
}
