import type { Envelope, JsonObject } from '../../contract.ts';
import { arrayOf, objectOf } from '../../json/json-access.ts';

/** This service wants each message of the input to say that it is one; OpenAI's takes it as said. */
export const itemsWithTypes: Envelope = {
  wrap(body: JsonObject): JsonObject | undefined {
    const input = arrayOf(body.input);
    const untyped = (item: unknown): boolean => {
      const object = objectOf(item);
      return object !== undefined && object.role !== undefined && object.type === undefined;
    };
    if (input?.some(untyped) !== true) return undefined;
    return {
      ...body,
      input: input.map((item) =>
        untyped(item) ? { type: 'message', ...(item as JsonObject) } : item,
      ),
    };
  },
};
