import type { JsonObject, ReplyBill } from '@sluice/contracts';
import { countersIn } from '../../bills/charged-tools.ts';
import { countedUnits } from '../../bills/counted-units.ts';
import { nanoUsdOfDollars, nanoUsdOfTicks } from '../../bills/provider-cost.ts';
import { servedTierOf } from '../../bills/served-tier.ts';
import { arrayOf, compact, countOf, numberOf, objectOf, stringOf } from '../../json/json-access.ts';
import { usageOf } from './wire.ts';

/**
 * What a reply, or the part of a stream with its usage, says of its price beside
 * tokens. Most of it are words of those who answer in OpenAI's format:
 * https://docs.x.ai/developers/cost-tracking, https://openrouter.ai/docs/use-cases/usage-accounting,
 * https://docs.perplexity.ai/api-reference/chat-completions-post
 */
export function readBill(body: JsonObject): ReplyBill {
  const usage = objectOf(body.usage) ?? {};
  return compact<ReplyBill>({
    servedTier: servedTierOf(body.service_tier) ?? servedTierOf(usage.service_tier),
    ...chargedModels(body),
    units: unitsOf(usage),
    providerCostNanoUsd: costOf(usage),
  });
}

/**
 * The models of a system of several, Groq's Compound: each is charged as its own, and the usage of the answer is their sum.
 * groq-sdk 1.6 (`usage_breakdown`), November 2026
 */
function chargedModels(body: JsonObject): Pick<ReplyBill, 'chargedTokens' | 'otherModels'> {
  const told = objectOf(body.usage_breakdown) ?? objectOf(objectOf(body.x_groq)?.usage_breakdown);
  const models = (arrayOf(told?.models) ?? []).slice(0, modelsMax).flatMap((value) => {
    const each = objectOf(value);
    const tokens = usageOf(objectOf(each?.usage));
    return tokens === undefined ? [] : { model: stringOf(each?.model) ?? '', tokens };
  });
  if (models.length === 0) return {};
  return { chargedTokens: { inputTokens: 0, outputTokens: 0 }, otherModels: models };
}

/** More than a system has: each is looked up in lists of prices. */
const modelsMax = 200;

function unitsOf(usage: JsonObject): ReplyBill['units'] {
  const atXai = objectOf(usage.server_side_tool_usage_details);
  const elsewhere = objectOf(usage.server_tool_use_details) ?? objectOf(usage.server_tool_use);
  if (
    atXai === undefined &&
    elsewhere === undefined &&
    usage.num_search_queries === undefined &&
    usage.search_context_size === undefined &&
    usage.prompt_audio_seconds === undefined
  )
    return undefined;
  return countedUnits({
    ...countersIn(atXai, elsewhere, usage),
    searchContext: stringOf(usage.search_context_size),
    // Mistral charges for sound by its length, beside the tokens of what is said.
    audioSeconds: numberOf(usage.prompt_audio_seconds),
  });
}

/** Connectors that conversations at Mistral used. https://docs.mistral.ai/agents/connectors, @mistralai/mistralai 2.7, November 2026 */
export function connectorUnits({ connectors }: JsonObject): ReplyBill['units'] {
  const used = objectOf(connectors);
  if (used === undefined) return undefined;
  return countedUnits({
    webSearches: countOf(used.web_search) + countOf(used.web_search_premium),
    codeExecutions: countOf(used.code_interpreter),
    imageGenerations: countOf(used.image_generation),
    fileSearches: countOf(used.document_library),
  });
}

function costOf(usage: JsonObject): number | undefined {
  if (usage.cost_in_usd_ticks !== undefined) return nanoUsdOfTicks(usage.cost_in_usd_ticks);
  const { cost } = usage;
  if (cost === undefined || cost === null) return undefined;
  if (typeof cost !== 'number') return nanoUsdOfDollars(objectOf(cost)?.total_cost);
  // Who brings a key of his own pays its vendor beside the fee.
  const upstream =
    usage.is_byok === true ? objectOf(usage.cost_details)?.upstream_inference_cost : undefined;
  return nanoUsdOfDollars(cost + (typeof upstream === 'number' ? upstream : 0));
}
