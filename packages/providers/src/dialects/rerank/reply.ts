import type { JsonObject, JsonValue } from '@sluice/contracts';
import { shownCount } from '../../bills/shown-usage.ts';
import { ownAnswerId } from '../../codecs/own-answer-id.ts';
import type { CallContext, ReplyFacts } from '../../contract.ts';
import { arrayOf, compact, numberOf, objectOf, stringOf } from '../../json/json-access.ts';
import { inputTokensOf, inputUsage } from '../token-usage.ts';

interface RerankResult {
  index: number;
  score: number;
}

/** What a vendor answered, before it is put into the unified words. */
export interface RerankAnswer {
  results: RerankResult[];
  facts: ReplyFacts;
}

/**
 * Reads the spellings of Cohere, Jina, Voyage, Pinecone and the servers that
 * follow them: `results` or `data`, `relevance_score` or `score`; usage as
 * search units, rerank units or tokens.
 */
export function readRerank(reply: JsonValue): RerankAnswer | undefined {
  const body = objectOf(reply);
  const items = arrayOf(body?.results) ?? arrayOf(body?.data);
  if (body === undefined || items === undefined) return undefined;
  const results: RerankResult[] = [];
  for (const item of items) {
    const object = objectOf(item);
    const index = numberOf(object?.index);
    const score = numberOf(object?.relevance_score) ?? numberOf(object?.score);
    if (index === undefined || score === undefined) return undefined;
    results.push({ index, score });
  }
  return { results, facts: factsOf(body) };
}

function factsOf(body: JsonObject): ReplyFacts {
  const meta = objectOf(body.meta);
  const billed = objectOf(meta?.billed_units);
  const usage = objectOf(body.usage);
  const searchUnits =
    numberOf(billed?.search_units) ??
    numberOf(usage?.search_units) ??
    numberOf(usage?.rerank_units);
  const tokens = inputTokensOf(usage) ?? inputTokensOf(meta?.tokens) ?? inputTokensOf(billed);
  return compact<ReplyFacts>({
    id: stringOf(body.id),
    model: stringOf(body.model),
    usage: tokens === undefined ? undefined : inputUsage(tokens),
    // Who charges tokens may list the other unit all the same, as nothing.
    units: searchUnits === undefined || searchUnits === 0 ? undefined : { searchUnits },
  });
}

/** The unified reply: best first, documents as the caller wrote them where they are asked for. */
export function encodeRerank({ results, facts }: RerankAnswer, context: CallContext): JsonObject {
  const documents = arrayOf(context.request.documents) ?? [];
  const returnsDocuments = context.request.return_documents === true;
  const sorted = [...results].sort((a, b) => b.score - a.score);
  return {
    id: facts.id ?? `rerank-${context.provider.id}-${ownAnswerId(context)}`,
    object: 'list',
    results: sorted.map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(returnsDocuments ? { document: returned(documents[index]) } : {}),
    })),
    model: facts.model ?? context.model,
    usage: compact<JsonObject>({
      search_units: facts.units?.searchUnits as number,
      total_tokens: (facts.usage && shownCount(facts.usage.inputTokens)) as number,
    }),
    provider: context.provider.id,
  };
}

function returned(document: JsonValue | undefined): JsonValue {
  return typeof document === 'string' ? { text: document } : (document ?? null);
}
