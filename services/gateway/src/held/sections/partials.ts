import { config } from '@sluice/proto-stubs';
import type { SectionIndex } from './section-index.ts';

const { field } = config.PromptPartialSchema;

export const partials: SectionIndex<typeof config.PromptPartialSchema> = {
  schema: config.PromptPartialSchema,
  nameFields: [field.id.number, field.slug.number],
  names: ({ id, slug }) => [id, slug],
  weight: () => 0,
};
