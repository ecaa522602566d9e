import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { CacheLifetime } from '@sluice/engine';
import { servedTierOf } from '@sluice/providers';
import type { Target } from '../exchange/target.ts';
import type { EstimatedUse } from './estimated-use.ts';

/** Of how a request is asked what decides its price. */
export interface AskedFor {
  /** The service tier, in the vocabulary of what was served; empty = none, or the provider chooses. */
  readonly tier: string;
  /** Where it is to be served, as replies tell it; empty = it does not say. */
  readonly region: string;
  /** All that goes in may be written to the provider's cache, for so long; undefined = none of it. */
  readonly writes: CacheLifetime | undefined;
}

/** @param json as the target gets it; undefined = nobody reads it */
export function askedFor(
  { entry, planned }: Pick<Target, 'entry' | 'planned'>,
  { writesCache: marked }: Pick<EstimatedUse, 'writesCache'>,
  json: JsonObject | undefined,
): AskedFor {
  const added = planned.cachePrefix?.ttl;
  const unasked = writesUnasked.has(entry.id) ? '5m' : undefined;
  return {
    tier: json === undefined ? '' : askedTier(json),
    region: json === undefined ? '' : askedRegion(json),
    writes: marked === '1h' || added === '1h' ? '1h' : (marked ?? added ?? unasked),
  };
}

/** What goes in is cached there whoever asks, and of newer models charged. */
const writesUnasked: ReadonlySet<string> = new Set(['openai', 'azure-openai', 'azure-ai']);

export function askedTier({ service_tier, serviceTier, speed }: JsonObject): string {
  if (speed === 'fast') return 'fast';
  return servedTierOf(service_tier ?? typeIn(serviceTier)) ?? '';
}

/** Claude's. https://platform.claude.com/docs/en/build-with-claude/data-residency */
export function askedRegion({ inference_geo: geo }: JsonObject): string {
  return typeof geo === 'string' && /^[a-z]{2}$/i.test(geo) ? geo.toLowerCase() : '';
}

/** Bedrock's is an object. */
function typeIn(tier: JsonValue | undefined): JsonValue | undefined {
  return typeof tier === 'object' && tier !== null && !Array.isArray(tier) ? tier.type : tier;
}
