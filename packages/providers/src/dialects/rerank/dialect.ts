import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { BodyDialect, CallContext, EncodedRequest } from '../../contract.ts';
import { jsonDialect } from '../json-dialect.ts';
import { encodeRerank, readRerank } from './reply.ts';

/** A vendor's way to ask; the answers are so alike that one reader knows them all. */
export function rerankDialect(
  encode: (body: JsonObject, context: CallContext) => EncodedRequest,
): BodyDialect {
  return jsonDialect({
    encode,
    decode(reply: JsonValue, context) {
      const answer = readRerank(reply);
      if (answer === undefined) return undefined;
      return { body: encodeRerank(answer, context), facts: answer.facts };
    },
  });
}
