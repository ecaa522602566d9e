import type { JsonObject } from '@sluice/contracts';
import { vertexModel } from '../addresses/vertex-ai.ts';
import { invalidField } from '../json/invalid-field.ts';
import { arrayOf, numberOf, objectOf, parseObject, stringOf } from '../json/json-access.ts';
import { findTranslation } from '../translation/find-translation.ts';
import { bucketNames } from './bucket-names.ts';
import type { RowDialect, VendorResult } from './row.ts';

/**
 * `{request, requestId}` of Gemini, `{custom_id, request}` of Claude,
 * `{content, requestId}` of embeddings. Jobs are told that `requestId` is no part of what is asked.
 * https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/batch-prediction-from-cloud-storage
 * https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/batch
 */
export const vertexRows: RowDialect = {
  endpoints: ['chatComplete', 'complete', 'embed', 'createModelResponse', 'messages'],
  names: bucketNames,
  translation: (endpoint, context) => findTranslation(context.provider, endpoint, context),
  write({ customId, endpoint }, body, { model }): JsonObject {
    if (endpoint === 'embed') {
      const [instance, ...others] = arrayOf(body.instances) ?? [body];
      if (others.length > 0 || instance === undefined)
        throw invalidField('input', 'must be one text: a row of this provider embeds one');
      return { ...(objectOf(instance) ?? {}), requestId: customId };
    }
    if (vertexModel(model).publisher === 'anthropic') return { custom_id: customId, request: body };
    return { request: body, requestId: customId };
  },
  read(row) {
    const asked = objectOf(row.request) ?? objectOf(row.instance);
    const customId = [row.requestId, row.custom_id, row.key, asked?.requestId].find(
      (id) => typeof id === 'string',
    ) as string | undefined;
    if (customId === undefined) return undefined;
    const reply = objectOf(row.response) ?? repliesOf(row);
    const known = { customId, requestId: '', ...(asked === undefined ? {} : { asked }) };
    if (reply !== undefined && Object.keys(reply).length > 0)
      return { ...known, reply, status: 200, error: undefined };
    return { ...known, ...faultOf(row) };
  },
  endpointOf: (reply) => (arrayOf(reply.predictions) === undefined ? 'chatComplete' : 'embed'),
};

function repliesOf(row: JsonObject): JsonObject | undefined {
  const predictions =
    arrayOf(row.predictions) ?? (row.prediction === undefined ? [] : [row.prediction]);
  return predictions.length === 0 ? undefined : { predictions };
}

/** `status` is a text, with the error as JSON in it, or the error itself. */
function faultOf({ status, error }: JsonObject): Pick<VendorResult, 'reply' | 'status' | 'error'> {
  const text = stringOf(status) ?? '';
  const told = objectOf(error) ?? objectOf(status) ?? parseObject(text.slice(text.indexOf('{')));
  const inner = objectOf(told?.error) ?? told;
  const code = numberOf(inner?.code);
  const message = stringOf(inner?.message) ?? (text === '' ? undefined : text);
  return {
    reply: { error: { message: message ?? 'The provider gave no answer to this line.' } },
    status: code !== undefined && code >= 400 && code <= 599 ? code : 500,
    error: undefined,
  };
}
