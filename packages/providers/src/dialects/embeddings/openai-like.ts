import type { JsonObject } from '@sluice/contracts';
import type { BodyDialect, EncodedRequest } from '../../contract.ts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';
import { jsonDialect } from '../json-dialect.ts';
import { inputTokensOf } from '../token-usage.ts';
import { encodeEmbeddings, vectorsOf } from './reply.ts';
import { inputsOf } from './request.ts';

/** Vendors who ask in words of their own and answer with OpenAI's list. */
export function openAiLike(encode: (body: JsonObject) => EncodedRequest): BodyDialect {
  return jsonDialect({
    encode(body) {
      inputsOf(body);
      return encode(body);
    },
    decode(reply, context) {
      const body = objectOf(reply);
      const vectors = vectorsOf(arrayOf(body?.data)?.map((item) => objectOf(item)?.embedding));
      if (body === undefined || vectors === undefined) return undefined;
      const tokens = inputTokensOf(body.usage);
      return encodeEmbeddings({ vectors, model: stringOf(body.model), tokens }, context);
    },
  });
}
