import { config } from '@sluice/proto-stubs';
import type { SectionIndex } from './section-index.ts';

const { field } = config.PromptVersionSchema;

export const promptVersions: SectionIndex<typeof config.PromptVersionSchema> = {
  schema: config.PromptVersionSchema,
  nameFields: [field.id.number, field.name.number],
  names: ({ id, name }) => [id, name],
  weight: ({ template, bodyJson }) => template.length + bodyJson.length,
};
