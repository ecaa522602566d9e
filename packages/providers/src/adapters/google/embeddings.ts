import type { JsonObject } from '@sluice/contracts';
import { embeddingsReply, readInputs } from '../../codecs/openai-embeddings/index.ts';
import type { BodyDialect } from '../../contract.ts';
import { googleTokens, googleVectors } from '../../dialects/embeddings/google.ts';
import { numberOf, parseObject, stringOf } from '../../json/json-access.ts';

/**
 * Embeddings of the Gemini API: each input is a request of its own in one batch.
 * https://ai.google.dev/api/embeddings
 */
export const embeddings: BodyDialect = {
  encode(body, context) {
    const { inputs, dropped } = readInputs(body, fields);
    const model = context.model.includes('/') ? context.model : `models/${context.model}`;
    const requests = inputs.map((text) => {
      const request: JsonObject = { model, content: { parts: [{ text }] } };
      const dimensions = numberOf(body.dimensions);
      const taskType = stringOf(body.task_type);
      const title = stringOf(body.title);
      if (dimensions !== undefined) request.outputDimensionality = dimensions;
      if (taskType !== undefined) request.taskType = taskType;
      if (title !== undefined) request.title = title;
      return request;
    });
    return { body: { requests }, dropped };
  },

  decode(bytes, context) {
    const body = parseObject(bytes.toString('utf8'));
    const vectors = body && googleVectors(body);
    if (body === undefined || vectors === undefined) return undefined;
    return embeddingsReply(vectors, googleTokens(body), context);
  },
};

const fields = new Set(['task_type', 'title']);
