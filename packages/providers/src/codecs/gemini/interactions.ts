import { type ChatUsage, type JsonObject, noUsage, type ReplyUnits } from '@sluice/contracts';
import { countedUnits } from '../../bills/counted-units.ts';
import { furtherKinds } from '../../bills/further-kinds.ts';
import { arrayOf, countOf, objectOf, stringOf, tellsAny } from '../../json/json-access.ts';
import { chargesEachSearch } from './bill.ts';

/**
 * What Google's Interactions tell of usage: the words of no other of its endpoints.
 * https://ai.google.dev/api/interactions-api, @google/genai 3.3, November 2026
 */

const counts = [
  'total_input_tokens',
  'total_tool_use_tokens',
  'total_output_tokens',
  'total_thought_tokens',
] as const;

/** Undefined where it counts neither what went in nor what came out. The total has thoughts in it, wherever else they are counted. */
export function interactionUsageOf(told: JsonObject): ChatUsage | undefined {
  if (!tellsAny(told, counts)) return undefined;
  const [input = 0, tools = 0, output = 0, thoughts = 0] = counts.map((name) =>
    countOf(told[name]),
  );
  const all = countOf(told.total_tokens) - input - tools;
  const goesIn = [told.input_tokens_by_modality, told.tool_use_tokens_by_modality];
  const comesOut = [told.output_tokens_by_modality];
  const cached = [told.cached_tokens_by_modality];
  return {
    ...noUsage,
    inputTokens: input + tools,
    outputTokens: all > 0 ? Math.max(all, output) : output + thoughts,
    cacheReadTokens: countOf(told.total_cached_tokens),
    reasoningTokens: thoughts,
    inputAudioTokens: tokensOf('audio', goesIn),
    outputAudioTokens: tokensOf('audio', comesOut),
    ...furtherKinds({
      inputImageTokens: tokensOf('image', goesIn),
      outputImageTokens: tokensOf('image', comesOut),
      inputVideoTokens: tokensOf('video', goesIn),
      outputVideoTokens: tokensOf('video', comesOut),
      cacheReadAudioTokens: tokensOf('audio', cached),
      cacheReadImageTokens: tokensOf('image', cached),
    }),
  };
}

function tokensOf(modality: string, breakdowns: readonly unknown[]): number {
  return sumOf(
    breakdowns.flatMap((breakdown) => objectsIn(breakdown)),
    (part) => (stringOf(part.modality) === modality ? countOf(part.tokens) : 0),
  );
}

/** Searches that the answer rests on; of models before the third generation a reply with any is charged once. */
export function interactionUnits(
  told: JsonObject,
  model: string | undefined,
): ReplyUnits | undefined {
  const groundings = objectsIn(told.grounding_tool_count);
  if (groundings.length === 0) return undefined;
  const searches = (type: string) => {
    const all = sumOf(groundings, (each) => (each.type === type ? countOf(each.count) : 0));
    return chargesEachSearch(model) ? all : Math.min(all, 1);
  };
  return countedUnits({
    webSearches: searches('google_search'),
    mapSearches: searches('google_maps'),
  });
}

function objectsIn(value: unknown): JsonObject[] {
  return (arrayOf(value) ?? []).map(objectOf).filter((item) => item !== undefined);
}

function sumOf(items: readonly JsonObject[], countIn: (item: JsonObject) => number): number {
  return items.reduce((sum, item) => sum + countIn(item), 0);
}
