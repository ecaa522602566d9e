import { config } from '@sluice/proto-stubs';
import type { SectionIndex } from './section-index.ts';

const { field } = config.ConfigSchema;

export const configs: SectionIndex<typeof config.ConfigSchema> = {
  schema: config.ConfigSchema,
  nameFields: [field.id.number, field.slug.number],
  names: ({ id, slug }) => [id, slug],
  weight: ({ bodyJson }) => bodyJson.length,
};
