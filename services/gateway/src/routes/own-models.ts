import { GatewayError } from '@sluice/errors';
import { type CataloguedModel, cataloguedModels } from '@sluice/pricing';
import { factsOfModel, type JsonObject, type ModelOverrides, shownFacts } from '@sluice/providers';
import type { SavedProvider } from '../compiled/compiled-bundle.ts';
import { modelKey } from '../compiled/model-key.ts';
import type { PriceList } from '../money/price-list.ts';
import type { UpstreamModel, UpstreamModels } from './upstream-models.ts';

/** A model that a workspace may use, as lists tell it. */
export interface OwnModel {
  readonly provider: SavedProvider;
  readonly slug: string;
  /** What the catalogue of prices says of it; undefined = an admin named it. */
  readonly catalogued: CataloguedModel | undefined;
  /** As its provider lists it; undefined = it was not asked, or does not list it. */
  readonly listed?: UpstreamModel | undefined;
}

/** Who tells what of models. */
export interface ModelTellers {
  readonly overrides?: ModelOverrides | undefined;
  readonly prices?: Pick<PriceList, 'rates'>;
  readonly upstream?: UpstreamModels;
}

/** Whether only the provider itself can tell its models: it allows all, and what it serves is in no list of ours. */
export function isToBeAsked({
  models,
  allowAllModels,
  providerId,
  customHost,
  entry,
}: SavedProvider): boolean {
  if (models.size > 0 || !allowAllModels || entry === undefined) return false;
  return customHost !== '' || cataloguedModels(providerId).length === 0;
}

/**
 * The models of a provider: those that its admins named; of one that allows all
 * and names none, those that the catalogue knows of it and nobody switched off.
 */
export function modelsOf(provider: SavedProvider, upstream?: UpstreamModels): OwnModel[] {
  const named = [...provider.models.values()];
  if (named.length > 0 || !provider.allowAllModels)
    return named
      .filter(({ enabled }) => enabled)
      .map(({ slug }) => ({ provider, slug, catalogued: cataloguedOf(provider, slug) }));
  const listed = isToBeAsked(provider) ? (upstream?.listOf(provider) ?? []) : [];
  if (listed.length > 0)
    return listed
      .filter(({ id }) => !provider.modelsOff.has(modelKey(id)))
      .map((one) => ({
        provider,
        slug: one.id,
        catalogued: cataloguedOf(provider, one.id),
        listed: one,
      }));
  return cataloguedModels(provider.providerId)
    .filter(({ id }) => !provider.modelsOff.has(modelKey(id)))
    .map((catalogued) => ({ provider, slug: catalogued.id, catalogued }));
}

/** The model of that name; undefined = the provider may not be asked for it. */
export function modelOf(provider: SavedProvider, slug: string): OwnModel | undefined {
  const row = provider.models.get(slug);
  const isAllowed =
    row?.enabled ?? (provider.allowAllModels && !provider.modelsOff.has(modelKey(slug)));
  return isAllowed ? { provider, slug, catalogued: cataloguedOf(provider, slug) } : undefined;
}

function cataloguedOf({ providerId }: SavedProvider, slug: string): CataloguedModel | undefined {
  return cataloguedModels(providerId).find(({ id }) => id === slug);
}

/** The published fields, and what is known beside them. */
export function shownModel(
  { provider, slug, catalogued, listed }: OwnModel,
  { overrides, prices }: ModelTellers,
): JsonObject {
  const facts = factsOfModel(slug, overrides);
  const contextTokens = facts?.contextTokens ?? catalogued?.contextTokens;
  const told: JsonObject = {
    id: `@${provider.slug}/${slug}`,
    object: 'model',
    created: listed?.created || dayInName(slug),
    owned_by: provider.providerId,
    slug,
    provider: provider.slug,
  };
  if (catalogued?.name !== undefined) told.name = catalogued.name;
  if (contextTokens !== undefined) told.context_tokens = contextTokens;
  if (facts?.outputTokensMax !== undefined) told.output_tokens_max = facts.outputTokensMax;
  if (facts?.endpoints !== undefined) told.endpoints = [...facts.endpoints];
  if (catalogued?.isDeprecated === true) told.deprecated = true;
  const cost = prices === undefined ? undefined : shownPrices(provider, slug, prices);
  if (cost !== undefined) told.prices = cost;
  if (facts !== undefined) told.facts = shownFacts(facts);
  return told;
}

/** Unix s of the day that the name of a snapshot says, as `gpt-4o-2024-08-06` does; 0 = it says none. */
function dayInName(slug: string): number {
  const [, year, month, day] = /[-@](20\d\d)-?([01]\d)-?([0-3]\d)(?!\d)/.exec(slug) ?? [];
  if (year === undefined) return 0;
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  const isDay = !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(day);
  return isDay ? date.getTime() / 1000 : 0;
}

/** Dollars for a million tokens, as the records are priced: the standard tier, without a region. */
function shownPrices(
  saved: SavedProvider,
  slug: string,
  prices: Pick<PriceList, 'rates'>,
): JsonObject | undefined {
  const { entry } = saved;
  if (entry === undefined) return undefined;
  const rates = prices.rates({ saved, entry, servedModel: slug });
  const [first] = rates?.tiers ?? [];
  if (rates === undefined || first === undefined) return undefined;
  const perMillion = (nanoUsd: number) => Number((nanoUsd / 1000).toPrecision(12));
  const told: JsonObject = {
    currency: 'USD',
    input_per_million: perMillion(first.input),
    output_per_million: perMillion(first.output),
    cache_read_per_million: perMillion(first.cacheRead),
    cache_write_per_million: perMillion(first.cacheWrite),
  };
  if (rates.requestNanoUsd > 0) told.per_request = rates.requestNanoUsd / 1e9;
  if (rates.tiers.length > 1)
    told.tiers = rates.tiers.slice(1).map(({ aboveInputTokens, input, output }) => ({
      above_input_tokens: aboveInputTokens,
      input_per_million: perMillion(input),
      output_per_million: perMillion(output),
    }));
  told.layer = rates.layer;
  told.version = rates.version;
  return told;
}

/** Which part of a list is asked for, and in which order. */
export interface ModelsQuery {
  /** A slug, with or without its `@`. */
  readonly provider: string | undefined;
  /** Of the catalogue's providers, by its id. */
  readonly aiService: string | undefined;
  readonly limit: number | undefined;
  readonly offset: number;
  readonly sort: 'name' | 'provider' | 'ai_service' | undefined;
  readonly order: 'asc' | 'desc';
}

/** @throws GatewayError `request.invalid_field` naming the parameter and what it takes */
export function readModelsQuery(search: string): ModelsQuery {
  const query = new URLSearchParams(search);
  const sort = oneOf(query, 'sort', ['name', 'provider', 'ai_service'] as const);
  return {
    provider: query.get('provider')?.replace(/^@/, '') || undefined,
    aiService: query.get('ai_service') || undefined,
    limit: countOf(query, 'limit', 1),
    offset: countOf(query, 'offset', 0) ?? 0,
    sort,
    order: oneOf(query, 'order', ['asc', 'desc'] as const) ?? 'asc',
  };
}

function oneOf<T extends string>(
  query: URLSearchParams,
  name: string,
  values: readonly T[],
): T | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  const found = values.find((one) => one === value);
  if (found === undefined)
    throw new GatewayError('request.invalid_field', {
      field: `query.${name}`,
      message: `query.${name} must be one of ${values.join(', ')}.`,
    });
  return found;
}

function countOf(query: URLSearchParams, name: string, min: number): number | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  const count = /^\d{1,9}$/.test(value) ? Number(value) : -1;
  if (count < min)
    throw new GatewayError('request.invalid_field', {
      field: `query.${name}`,
      message: `query.${name} must be a whole number from ${min}.`,
    });
  return count;
}

/** Those that are asked for in the order that is asked for; as admins named them where none is. */
export function chosen(models: readonly OwnModel[], query: ModelsQuery): OwnModel[] {
  const found = models.filter(
    ({ provider }) =>
      (query.provider === undefined || provider.slug === query.provider) &&
      (query.aiService === undefined || provider.providerId === query.aiService),
  );
  if (query.sort === undefined && query.order === 'asc') return found;
  const by = keys[query.sort ?? 'name'];
  const sign = query.order === 'desc' ? -1 : 1;
  return found.sort((a, b) => sign * (compare(by(a), by(b)) || compare(a.slug, b.slug)));
}

const keys = {
  name: ({ slug }: OwnModel) => slug,
  provider: ({ provider }: OwnModel) => provider.slug,
  ai_service: ({ provider }: OwnModel) => provider.providerId,
};

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
