import type { JsonObject } from '@sluice/contracts';
import type { BodyDialect } from '../../contract.ts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';
import { jsonDialect } from '../json-dialect.ts';
import { reshape } from '../reshape.ts';
import { inputTokensOf } from '../token-usage.ts';
import { encodeEmbeddings, vectorsOf } from './reply.ts';
import { textInputsOf } from './request.ts';

/** https://docs.nomic.ai/reference/api/embed-text-v-1-embedding-text-post */
export const nomicEmbeddings: BodyDialect = jsonDialect({
  encode(body) {
    const shaped = reshape(body, {
      rename: { dimensions: 'dimensionality' },
      drop: ['user'],
      used: ['input', 'encoding_format'],
    });
    const encoded: JsonObject = { ...shaped.body, texts: textInputsOf(body) };
    encoded.task_type ??= 'search_document';
    return { body: encoded, dropped: shaped.dropped };
  },
  decode(reply, context) {
    const body = objectOf(reply);
    const vectors = vectorsOf(arrayOf(body?.embeddings));
    if (body === undefined || vectors === undefined) return undefined;
    const tokens = inputTokensOf(body.usage);
    return encodeEmbeddings({ vectors, model: stringOf(body.model), tokens }, context);
  },
});
