import { regionalHost } from '../../addresses/bedrock.ts';
import type { BodyDialect, EndpointEntry } from '../../contract.ts';
import { arrayOf, objectOf, parseObject, stringOf } from '../../json/json-access.ts';

const dialect: BodyDialect = {
  encode: () => ({ body: undefined, dropped: [] }),
  decode(bytes, context) {
    const models = arrayOf(parseObject(bytes.toString('utf8'))?.modelSummaries);
    if (models === undefined) return undefined;
    const data = models.flatMap((value) => {
      const model = objectOf(value);
      const id = stringOf(model?.modelId);
      if (id === undefined) return [];
      return [
        {
          id,
          object: 'model',
          created: 0,
          owned_by: stringOf(model?.providerName) ?? 'system',
          provider: context.provider.id,
        },
      ];
    });
    return { body: Buffer.from(JSON.stringify({ object: 'list', data })), facts: {} };
  },
};

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ListFoundationModels.html */
export const listModels: EndpointEntry = {
  format: 'bedrock/models',
  baseUrl: regionalHost('bedrock'),
  path: '/foundation-models',
  method: 'GET',
  dialect,
};
