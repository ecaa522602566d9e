import type { JsonObject, ReplyBill } from '@sluice/contracts';
import { countedUnits } from '../../bills/counted-units.ts';
import { servedTierOf } from '../../bills/served-tier.ts';
import { arrayOf, compact, objectOf, stringOf } from '../../json/json-access.ts';

/**
 * What a reply, or a piece of one, says of its price beside tokens.
 * https://ai.google.dev/gemini-api/docs/google-search
 */
export function readBill(body: JsonObject): ReplyBill {
  const usage = objectOf(body.usageMetadata);
  return compact<ReplyBill>({
    servedTier: servedTierOf(usage?.serviceTier) ?? servedTierOf(usage?.trafficType),
    units: unitsOf(body),
  });
}

function unitsOf(body: JsonObject): ReplyBill['units'] {
  let webSearches = 0;
  let mapSearches = 0;
  let isGrounded = false;
  for (const value of arrayOf(body.candidates) ?? []) {
    const grounding = objectOf(objectOf(value)?.groundingMetadata);
    if (grounding === undefined) continue;
    const chunks = (arrayOf(grounding.groundingChunks) ?? []).map(objectOf);
    const isOfMaps = chunks.some((chunk) => chunk?.maps !== undefined);
    isGrounded ||= chunks.some((chunk) => chunk?.web !== undefined);
    if (isOfMaps) mapSearches += 1;
    webSearches += new Set((arrayOf(grounding.webSearchQueries) ?? []).filter(Boolean)).size;
  }
  if (webSearches === 0 && mapSearches === 0 && !isGrounded) return undefined;
  const isBySearch = chargesEachSearch(stringOf(body.modelVersion));
  return countedUnits({ webSearches: isBySearch ? webSearches : Number(isGrounded), mapSearches });
}

/** Since the third generation each search is charged; before, a reply that sources were found for. */
export function chargesEachSearch(model: string | undefined): boolean {
  return !/gemini-[12](?:[.-]|$)/.test(model ?? '');
}
