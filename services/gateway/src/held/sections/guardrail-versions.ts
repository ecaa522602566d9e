import { config } from '@sluice/proto-stubs';
import type { SectionIndex } from './section-index.ts';

const { field } = config.GuardrailVersionSchema;

export const guardrailVersions: SectionIndex<typeof config.GuardrailVersionSchema> = {
  schema: config.GuardrailVersionSchema,
  nameFields: [field.id.number, field.name.number],
  names: ({ id, name }) => [id, name],
  weight: ({ checksJson, actionsJson }) => checksJson.length + actionsJson.length,
};
