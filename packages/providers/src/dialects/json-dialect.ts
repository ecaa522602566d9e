import type { JsonObject, JsonValue } from '@sluice/contracts';
import type {
  BodyDialect,
  CallContext,
  EncodedRequest,
  ReplyFacts,
  ReplyHead,
} from '../contract.ts';
import { readReply } from '../json/json-access.ts';

/** A dialect whose replies are JSON: the parsing and writing around it are done here. */
export interface JsonDialect {
  encode(body: JsonObject, context: CallContext): EncodedRequest;
  /** Undefined when this is not the vendor's reply; `body` undefined = it is the caller's format already. */
  decode(
    reply: JsonValue,
    context: CallContext,
    head: ReplyHead,
  ): { body: JsonObject | undefined; facts: ReplyFacts } | undefined;
}

export function jsonDialect(dialect: JsonDialect): BodyDialect {
  return {
    encode: dialect.encode,
    decode(bytes, context, head) {
      const reply = readReply(bytes);
      const decoded = reply === undefined ? undefined : dialect.decode(reply, context, head);
      if (decoded === undefined) return undefined;
      const { body, facts } = decoded;
      return {
        body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
        facts,
      };
    },
  };
}
