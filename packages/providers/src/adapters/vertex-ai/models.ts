import type { BodyDialect, EndpointEntry } from '../../contract.ts';
import { arrayOf, objectOf, parseObject, stringOf } from '../../json/json-access.ts';
import { modelRow } from '../google/models.ts';

/** Google's own models in the model garden. Names are as requests take them. */
const garden: BodyDialect = {
  encode: () => ({ body: undefined, dropped: [] }),
  decode(bytes, context) {
    const list = arrayOf(parseObject(bytes.toString('utf8'))?.publisherModels);
    if (list === undefined) return undefined;
    const data = list.flatMap((value) => {
      const name = stringOf(objectOf(value)?.name);
      const [, publisher, model] = /^publishers\/([^/]+)\/models\/(.+)$/.exec(name ?? '') ?? [];
      if (publisher === undefined || model === undefined) return [];
      return [modelRow(`${publisher}.${model}`, publisher, context.provider.id)];
    });
    return { body: Buffer.from(JSON.stringify({ object: 'list', data })), facts: {} };
  },
};

export const listModels: EndpointEntry = {
  format: 'vertex-ai/models',
  path: '/v1beta1/publishers/google/models',
  query: { pageSize: '300' },
  method: 'GET',
  dialect: garden,
};
