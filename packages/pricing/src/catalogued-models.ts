import { findProvider } from '@pydantic/genai-prices';
import { catalogueIds } from './provider-ids.ts';

/** A model that the catalogue of prices knows. */
export interface CataloguedModel {
  /** As its provider names it. */
  readonly id: string;
  readonly name: string | undefined;
  /** Of a prompt and its answer together. */
  readonly contextTokens: number | undefined;
  readonly isDeprecated: boolean;
}

/** There the catalogue's names are no names to ask by: deployments, ids of regions and versions. */
const namedOtherwise: ReadonlySet<string> = new Set([
  'azure-ai',
  'azure-openai',
  'bedrock',
  'bedrock-mantle',
  'vertex-ai',
]);

const none: readonly CataloguedModel[] = [];
const known = new Map<string, readonly CataloguedModel[]>();

/** What the catalogue knows of one of our providers; empty where it knows nothing, or not by the names to ask by. */
export function cataloguedModels(provider: string): readonly CataloguedModel[] {
  if (!Object.hasOwn(catalogueIds, provider) || namedOtherwise.has(provider)) return none;
  let models = known.get(provider);
  if (models === undefined) {
    const found = findProvider({ providerId: catalogueIds[provider] as string });
    models = (found?.models ?? []).map((model) => ({
      id: model.id,
      name: model.name,
      contextTokens: model.context_window,
      isDeprecated: model.deprecated === true,
    }));
    known.set(provider, models);
  }
  return models;
}
