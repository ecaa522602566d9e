import type { JsonObject, JsonValue } from '@sluice/contracts';
import { servedTierOf } from '@sluice/providers';

/**
 * The service tier that a request asks for, in the vocabulary of what was served;
 * empty = none, or the provider chooses.
 */
export function askedTier({ service_tier, serviceTier, speed }: JsonObject): string {
  if (speed === 'fast') return 'fast';
  return servedTierOf(service_tier ?? typeIn(serviceTier)) ?? '';
}

/** Bedrock's is an object. */
function typeIn(tier: JsonValue | undefined): JsonValue | undefined {
  return typeof tier === 'object' && tier !== null && !Array.isArray(tier) ? tier.type : tier;
}
