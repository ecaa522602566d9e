import { type JsonObject, noUsage, type OtherModel } from '@sluice/contracts';
import { furtherKinds } from '../../bills/further-kinds.ts';
import { arrayOf, countOf, objectOf, stringOf } from '../../json/json-access.ts';
import { decodeUsage } from './wire.ts';

/**
 * The model that wrote a picture as SVG, beside the one that drew it: of a reply with images, or of an
 * `image_generation_call`. openai 7.59 (`svg_usage`), November 2026
 */
export function svgWriter(told: JsonObject): OtherModel | undefined {
  const usage = objectOf(told.svg_usage);
  const model = stringOf(usage?.model);
  if (usage === undefined || model === undefined) return undefined;
  return {
    model,
    tokens: {
      ...noUsage,
      inputTokens: countOf(usage.input_tokens),
      outputTokens: countOf(usage.output_tokens),
      reasoningTokens: countOf(usage.reasoning_tokens),
    },
  };
}

/**
 * The model that drew the pictures of a response, with all it counted for them: the response repeats its tools as
 * they were used. Undefined where it names none. openai 7.59 (`tool_usage.image_gen`), November 2026
 */
export function pictureModel({ tools, tool_usage }: JsonObject): OtherModel | undefined {
  const counted = objectOf(objectOf(tool_usage)?.image_gen);
  if (counted === undefined || countOf(counted.total_tokens) === 0) return undefined;
  for (const value of arrayOf(tools) ?? []) {
    const tool = objectOf(value);
    const model = tool?.type === 'image_generation' ? stringOf(tool.model) : undefined;
    if (model === undefined) continue;
    const cached = objectOf(counted.cached_tokens_details);
    return {
      model,
      tokens: {
        ...decodeUsage(counted),
        cacheReadTokens: countOf(counted.cached_tokens),
        ...furtherKinds({ cacheReadImageTokens: countOf(cached?.cached_image_tokens) }),
      },
    };
  }
  return undefined;
}
