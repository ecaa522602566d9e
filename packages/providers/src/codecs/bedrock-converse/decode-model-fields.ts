import type { JsonObject, JsonValue } from '@sluice/contracts';
import { compact, numberOf, objectOf, stringOf } from '../../json/json-access.ts';

/** Where any family keeps a field of ours among the model's further ones; dots nest. */
const places = {
  topK: ['top_k', 'k', 'inferenceConfig.topK'],
  seed: ['seed'],
  frequencyPenalty: ['frequency_penalty', 'frequencyPenalty.scale'],
  presencePenalty: ['presence_penalty', 'presencePenalty.scale'],
  logitBias: ['logit_bias'],
  effort: ['reasoning_effort', 'reasoningConfig.maxReasoningEffort', 'output_config.effort'],
  user: ['metadata.user_id'],
} as const;

/** Takes out of the further fields what the chat model has names for; the rest stays. */
export function takeModelFields(additional: JsonObject) {
  const effort = stringOf(take(additional, places.effort));
  // What Nova is told beside an effort says no more than the effort itself.
  const reasoning = objectOf(additional.reasoningConfig);
  if (effort !== undefined && reasoning !== undefined && Object.keys(reasoning).length === 1)
    delete additional.reasoningConfig;
  return compact({
    topK: numberOf(take(additional, places.topK)),
    seed: numberOf(take(additional, places.seed)),
    frequencyPenalty: numberOf(take(additional, places.frequencyPenalty)),
    presencePenalty: numberOf(take(additional, places.presencePenalty)),
    logitBias: objectOf(take(additional, places.logitBias)),
    user: stringOf(take(additional, places.user)),
    effort,
  });
}

/** The first that is there, removed; an object it leaves empty goes with it. `fields` is ours to edit. */
function take(fields: JsonObject, candidates: readonly string[]): JsonValue | undefined {
  for (const place of candidates) {
    const [first = '', second] = place.split('.');
    const value = fields[first];
    if (second === undefined) {
      if (value === undefined) continue;
      delete fields[first];
      return value;
    }
    const { [second]: inner, ...rest } = objectOf(value) ?? {};
    if (inner === undefined) continue;
    if (Object.keys(rest).length === 0) delete fields[first];
    else fields[first] = rest;
    return inner;
  }
  return undefined;
}
