import type { BodyDialect, JsonObject } from '../../contract.ts';
import { arrayOf, objectOf, parseObject, stringOf } from '../../json/json-access.ts';

/** https://docs.cohere.com/reference/list-models: a list of names, and what each can do. */
export const models: BodyDialect = {
  encode: () => ({ body: undefined, dropped: [] }),
  decode: (bytes) => {
    const list = arrayOf(parseObject(bytes.toString('utf8'))?.models);
    if (list === undefined) return undefined;
    const data = list.flatMap((value): JsonObject[] => {
      const id = stringOf(objectOf(value)?.name);
      return id === undefined ? [] : [{ id, object: 'model', created: 0, owned_by: 'cohere' }];
    });
    return { body: Buffer.from(JSON.stringify({ object: 'list', data })), facts: {} };
  },
};
