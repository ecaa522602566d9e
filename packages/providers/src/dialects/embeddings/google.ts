import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { ReplyFacts } from '../../contract.ts';
import { arrayOf, numberOf, objectOf } from '../../json/json-access.ts';
import { inputUsage } from '../token-usage.ts';

/**
 * The vectors that Gemini's `embedContent` and `batchEmbedContents` answer; undefined = the reply has none.
 * https://ai.google.dev/api/embeddings
 */
export function googleVectors({ embedding, embeddings }: JsonObject): JsonValue[][] | undefined {
  const list = arrayOf(embeddings) ?? (embedding === undefined ? [] : [embedding]);
  if (list.length === 0) return undefined;
  return list.map((value) => arrayOf(objectOf(value)?.values) ?? []);
}

/** Of the newer models; undefined = it is not told. */
export function googleTokens({ usageMetadata }: JsonObject): number | undefined {
  return numberOf(objectOf(usageMetadata)?.promptTokenCount);
}

/** What a reply tells that passes as it came. */
export function readGoogleEmbeddings(body: JsonObject): ReplyFacts | undefined {
  if (googleVectors(body) === undefined) return undefined;
  const tokens = googleTokens(body);
  return tokens === undefined ? {} : { usage: inputUsage(tokens) };
}
