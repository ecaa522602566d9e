import { config } from '@sluice/proto-stubs';
import { EncodedTable } from './encoded-table.ts';

/** Saved configs, by slug and by id. */
export type ConfigTable = EncodedTable<typeof config.ConfigSchema>;

/** What a workspace may have very much of, as the bytes it came in. */
export interface BundleTables {
  readonly configs: ConfigTable;
  /** By slug and by id. */
  readonly prompts: EncodedTable<typeof config.PromptSchema>;
  /** By id, and by `<id of the prompt>@<number>`. */
  readonly promptVersions: EncodedTable<typeof config.PromptVersionSchema>;
  readonly partials: EncodedTable<typeof config.PromptPartialSchema>;
  readonly partialVersions: EncodedTable<typeof config.PromptPartialVersionSchema>;
}

/** In the order in which a snapshot has them; the names are those of the pieces of a bundle. */
export const tableNames = [
  'configs',
  'prompts',
  'promptVersions',
  'partials',
  'partialVersions',
] as const satisfies readonly (keyof BundleTables)[];

/** The tables are filled before they are used. */
export function emptyTables(): BundleTables {
  return {
    configs: new EncodedTable({
      schema: config.ConfigSchema,
      nameFields: [config.ConfigSchema.field.id.number, config.ConfigSchema.field.slug.number],
      names: ({ id, slug }) => [id, slug],
      weight: ({ bodyJson }) => bodyJson.length,
    }),
    prompts: new EncodedTable({
      schema: config.PromptSchema,
      nameFields: [config.PromptSchema.field.id.number, config.PromptSchema.field.slug.number],
      names: ({ id, slug }) => [id, slug],
      weight: ({ labels }) => 100 * Object.keys(labels).length,
    }),
    promptVersions: new EncodedTable({
      schema: config.PromptVersionSchema,
      nameFields: [
        config.PromptVersionSchema.field.id.number,
        config.PromptVersionSchema.field.name.number,
      ],
      names: ({ id, name }) => [id, name],
      weight: ({ template, bodyJson }) => template.length + bodyJson.length,
    }),
    partials: new EncodedTable({
      schema: config.PromptPartialSchema,
      nameFields: [
        config.PromptPartialSchema.field.id.number,
        config.PromptPartialSchema.field.slug.number,
      ],
      names: ({ id, slug }) => [id, slug],
      weight: () => 0,
    }),
    partialVersions: new EncodedTable({
      schema: config.PromptPartialVersionSchema,
      nameFields: [
        config.PromptPartialVersionSchema.field.id.number,
        config.PromptPartialVersionSchema.field.name.number,
      ],
      names: ({ id, name }) => [id, name],
      weight: ({ template }) => template.length,
    }),
  };
}
