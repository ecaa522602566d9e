import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { BodyDialect } from '../../contract.ts';
import { arrayOf, countOf, objectOf, stringOf } from '../../json/json-access.ts';
import { jsonDialect } from '../json-dialect.ts';
import { reshape } from '../reshape.ts';
import { inputTokensOf } from '../token-usage.ts';
import { encodeEmbeddings, vectorsOf } from './reply.ts';
import { type EmbeddingInput, inputsOf } from './request.ts';

/** https://docs.cohere.com/reference/embed (version 2) */
export const cohereEmbeddings: BodyDialect = jsonDialect({
  encode(body) {
    const shaped = reshape(body, {
      rename: { dimensions: 'output_dimension' },
      drop: ['user'],
      used: ['input', 'encoding_format'],
    });
    const encoded: JsonObject = { ...shaped.body, ...inputFields(inputsOf(body)) };
    // Required for its newer models; a caller who searches says so.
    encoded.input_type ??= 'search_document';
    encoded.embedding_types ??= ['float'];
    return { body: encoded, dropped: shaped.dropped };
  },
  decode(reply, context) {
    const body = objectOf(reply);
    const byType = objectOf(body?.embeddings);
    const vectors = vectorsOf(arrayOf(byType?.float ?? Object.values(byType ?? {})[0]));
    if (body === undefined || vectors === undefined) return undefined;
    const billed = objectOf(objectOf(body.meta)?.billed_units);
    const ofTexts = inputTokensOf(billed);
    const imageTokens = countOf(billed?.image_tokens);
    const tokens =
      ofTexts === undefined && imageTokens === 0 ? undefined : (ofTexts ?? 0) + imageTokens;
    const id = stringOf(body.id);
    return encodeEmbeddings({ vectors, model: undefined, id, tokens, imageTokens }, context);
  },
});

function inputFields(inputs: readonly EmbeddingInput[]): JsonObject {
  if (inputs.every((input) => 'text' in input)) return { texts: inputs.map(({ text }) => text) };
  return { inputs: inputs.map((input) => ({ content: [contentOf(input)] })) };
}

function contentOf(input: EmbeddingInput): JsonValue {
  return 'text' in input
    ? { type: 'text', text: input.text }
    : { type: 'image_url', image_url: { url: input.image } };
}
