import { config } from '@sluice/proto-stubs';
import type { SectionIndex } from './section-index.ts';

const { field } = config.GuardrailSchema;

export const guardrails: SectionIndex<typeof config.GuardrailSchema> = {
  schema: config.GuardrailSchema,
  nameFields: [field.id.number, field.slug.number],
  names: ({ id, slug }) => [id, slug],
  weight: () => 0,
};
