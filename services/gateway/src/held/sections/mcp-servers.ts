import { config } from '@sluice/proto-stubs';
import type { SectionIndex } from './section-index.ts';

const { field } = config.McpServerSchema;

export const mcpServers: SectionIndex<typeof config.McpServerSchema> = {
  schema: config.McpServerSchema,
  nameFields: [field.id.number, field.slug.number],
  names: ({ id, slug }) => [id, slug],
  weight: ({ configurationsJson, policyJson, capabilities, userAccess }) =>
    configurationsJson.length +
    policyJson.length +
    300 * capabilities.length +
    50 * Object.keys(userAccess).length,
};
