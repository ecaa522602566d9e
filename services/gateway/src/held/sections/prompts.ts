import { config } from '@sluice/proto-stubs';
import type { SectionIndex } from './section-index.ts';

const { field } = config.PromptSchema;

export const prompts: SectionIndex<typeof config.PromptSchema> = {
  schema: config.PromptSchema,
  nameFields: [field.id.number, field.slug.number],
  names: ({ id, slug }) => [id, slug],
  weight: ({ labels }) => 100 * Object.keys(labels).length,
};
