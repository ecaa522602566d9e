import { config } from '@sluice/proto-stubs';
import type { SectionIndex } from './section-index.ts';

const { field } = config.AgentServerSchema;

export const agentServers: SectionIndex<typeof config.AgentServerSchema> = {
  schema: config.AgentServerSchema,
  nameFields: [field.id.number, field.slug.number],
  names: ({ id, slug }) => [id, slug],
  weight: ({ configurationsJson, policyJson, cardJson, skills, userAccess }) =>
    configurationsJson.length +
    policyJson.length +
    cardJson.length +
    50 * skills.length +
    50 * Object.keys(userAccess).length,
};
