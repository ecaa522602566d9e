import type { JsonObject } from '@sluice/contracts';
import type { BodyDialect } from '../../contract.ts';
import { arrayOf, compact, objectOf, stringOf } from '../../json/json-access.ts';
import { jsonDialect } from '../json-dialect.ts';
import { reshape } from '../reshape.ts';
import { inputTokensOf } from '../token-usage.ts';
import { encodeEmbeddings, vectorsOf } from './reply.ts';
import { textInputsOf } from './request.ts';

/** https://docs.pinecone.io/reference/api/latest/inference/generate-embeddings */
export const pineconeEmbeddings: BodyDialect = jsonDialect({
  encode(body) {
    const shaped = reshape(body, {
      drop: ['user'],
      used: ['input', 'encoding_format', 'dimensions', 'input_type', 'truncate', 'parameters'],
    });
    const parameters = compact<JsonObject>({
      input_type: body.input_type ?? 'passage',
      truncate: body.truncate as string,
      dimension: body.dimensions as number,
      ...objectOf(body.parameters),
    });
    const inputs = textInputsOf(body).map((text) => ({ text }));
    return { body: { ...shaped.body, inputs, parameters }, dropped: shaped.dropped };
  },
  decode(reply, context) {
    const body = objectOf(reply);
    // Sparse vectors have no place in OpenAI's list; their values alone would mean nothing.
    const vectors = vectorsOf(arrayOf(body?.data)?.map((item) => objectOf(item)?.values));
    if (body === undefined || vectors === undefined) return undefined;
    const tokens = inputTokensOf(body.usage);
    return encodeEmbeddings({ vectors, model: stringOf(body.model), tokens }, context);
  },
});
