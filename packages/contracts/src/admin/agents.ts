import { z } from 'zod';
import { endpoint } from './endpoint.ts';

const agentCard = z.looseObject({
  name: z.string(),
  url: z.string(),
});

export const agentsEndpoints = {
  'agent-servers.card.read': endpoint({
    operationId: 'getAgentServerCard',
    tag: 'Agents',
    method: 'get',
    path: '/agent-servers/{agentServerId}/agent-card',
    answer: agentCard,
  }),
  'agent-integrations.fetch-card': endpoint({
    operationId: 'fetchAgentCard',
    tag: 'Agents',
    method: 'post',
    path: '/agent-integrations/fetch-agent-card',
    body: z.record(z.string(), z.unknown()),
    answer: agentCard,
    errors: [400],
  }),
};
