import { config } from '@sluice/proto-stubs';
import type { SectionIndex } from './section-index.ts';

const { field } = config.PromptPartialVersionSchema;

export const partialVersions: SectionIndex<typeof config.PromptPartialVersionSchema> = {
  schema: config.PromptPartialVersionSchema,
  nameFields: [field.id.number, field.name.number],
  names: ({ id, name }) => [id, name],
  weight: ({ template }) => template.length,
};
