import type { JsonObject } from '@sluice/contracts';
import { anthropicMessages } from '../../codecs/anthropic-messages/index.ts';
import { inCallersWords } from '../../codecs/callers-words.ts';
import { gemini } from '../../codecs/gemini/index.ts';
import type { BodyDialect, CallContext, DecodedReply } from '../../contract.ts';
import { numberOf, parseObject } from '../../json/json-access.ts';

/**
 * Counts the tokens of Anthropic's messages as Gemini sees them.
 * https://ai.google.dev/api/tokens
 */
export const countTokens: BodyDialect = {
  encode(body, context) {
    const { request, dropped } = countedRequest(body, context);
    const model = context.model.includes('/') ? context.model : `models/${context.model}`;
    return { body: { generateContentRequest: { model, ...request } }, dropped };
  },
  decode: decodeCount,
};

/** The messages as a request of Gemini's; what only bears on the answer is left out. */
export function countedRequest(
  body: JsonObject,
  context: CallContext,
): { request: JsonObject; dropped: string[] } {
  // The limit is mandatory for messages and has no part in counting.
  const decoded = anthropicMessages.decodeRequest({ ...body, max_tokens: 1 });
  const encoded = gemini.encodeRequest(decoded.request, context);
  const { contents, systemInstruction, tools } = encoded.body;
  const request: JsonObject = { contents: contents ?? [] };
  if (systemInstruction !== undefined) request.systemInstruction = systemInstruction;
  if (tools !== undefined) request.tools = tools;
  return {
    request,
    dropped: [...decoded.dropped, ...inCallersWords('anthropic-messages', body, encoded.dropped)],
  };
}

export function decodeCount(bytes: Buffer): DecodedReply | undefined {
  const total = numberOf(parseObject(bytes.toString('utf8'))?.totalTokens);
  if (total === undefined) return undefined;
  return { body: Buffer.from(JSON.stringify({ input_tokens: total })), facts: {} };
}
