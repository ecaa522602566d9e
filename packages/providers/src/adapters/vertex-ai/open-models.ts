import {
  endpointPath,
  locationPath,
  publisherPath,
  vertexModel,
} from '../../addresses/vertex-ai.ts';
import type { EndpointEntry, JsonObject } from '../../contract.ts';

/** Models that speak OpenAI's format here; how each is named differs. */

export const mistralChat: EndpointEntry = {
  format: 'openai-chat',
  path: (facts) => publisherPath(facts, facts.stream ? 'streamRawPredict' : 'rawPredict'),
  quirks: { developerAsSystem: true },
  envelope: { wrap: (body, { model }) => ({ ...body, model: vertexModel(model).name }) },
};

/** The model garden's open models. */
export const openChat: EndpointEntry = {
  format: 'openai-chat',
  path: (facts) => `${locationPath(facts)}/endpoints/openapi/chat/completions`,
  quirks: { developerAsSystem: true },
  envelope: { wrap: withPublisher },
};

/** Llama is offered in a preview of the same. */
export const metaChat: EndpointEntry = {
  ...openChat,
  path: (facts) => `${locationPath(facts, 'v1beta1')}/endpoints/openapi/chat/completions`,
};

/** What a customer has deployed; the address says which. */
export const endpointChat: EndpointEntry = {
  format: 'openai-chat',
  path: endpointPath,
  quirks: { developerAsSystem: true, drop: ['model'] },
};

function withPublisher(body: JsonObject, context: { model: string }): JsonObject {
  const { publisher, name } = vertexModel(context.model);
  return { ...body, model: `${publisher}/${name}` };
}
