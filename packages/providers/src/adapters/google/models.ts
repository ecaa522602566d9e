import type { JsonObject } from '@sluice/contracts';
import type { BodyDialect } from '../../contract.ts';
import { arrayOf, objectOf, parseObject, stringOf } from '../../json/json-access.ts';

/** The models of the Gemini API as OpenAI's list. https://ai.google.dev/api/models */
export const models: BodyDialect = {
  encode: () => ({ body: undefined, dropped: [] }),
  decode(bytes, context) {
    const list = arrayOf(parseObject(bytes.toString('utf8'))?.models);
    if (list === undefined) return undefined;
    const data = list.flatMap((value) => {
      const name = stringOf(objectOf(value)?.name);
      return name === undefined
        ? []
        : [modelRow(name.replace(/^models\//, ''), 'google', context.provider.id)];
    });
    return { body: Buffer.from(JSON.stringify({ object: 'list', data })), facts: {} };
  },
};

export function modelRow(id: string, owner: string, provider: string): JsonObject {
  return { id, object: 'model', created: 0, owned_by: owner, provider };
}
