import type { JsonObject } from '@sluice/contracts';
import type { EndpointEntry } from '../../contract.ts';
import { compact, stringOf } from '../../json/json-access.ts';
import { type ListedModel, modelListDialect, secondsOf } from './list.ts';

/** A model whose name stands in this field. */
function named(item: JsonObject, field: string, more: JsonObject = {}): ListedModel | undefined {
  const id = stringOf(item[field]);
  return id === undefined
    ? undefined
    : { id, created: secondsOf(item.created_at ?? item.created), more: compact(more) };
}

/** https://docs.claude.com/en/api/models-list: as many as it gives at once. */
export const anthropicModels: EndpointEntry = {
  format: 'anthropic/models',
  path: '/models',
  query: { limit: '1000' },
  dialect: modelListDialect({
    items: 'data',
    // Its own clients read all that it tells of a model.
    read(item) {
      const { id: _, ...more } = item;
      return named(item, 'id', more);
    },
    paging: ['has_more', 'first_id', 'last_id'],
  }),
};

/** https://docs.cohere.com/reference/list-models */
export const cohereModels: EndpointEntry = {
  format: 'cohere/models',
  path: '/v1/models',
  query: { page_size: '1000' },
  method: 'GET',
  dialect: modelListDialect({
    items: 'models',
    read: (item) =>
      named(item, 'name', {
        endpoints: item.endpoints as string[],
        context_length: item.context_length as number,
      }),
    paging: ['next_page_token'],
  }),
};

/** https://developers.cloudflare.com/api/resources/ai/subresources/models. Relative to the account's `/ai`. */
export const workersAiModels = modelListDialect({
  items: 'result',
  // The id is a UUID that no call takes.
  read: (item) => named(item, 'name', { description: item.description as string }),
});

/** https://docs.together.ai/reference/models-1: OpenAI's models without the list around them. */
export const bareModels = modelListDialect({
  items: undefined,
  read(item) {
    const { id: _id, object: _object, created: _created, ...more } = item;
    return named(item, 'id', more);
  },
});

/** https://elevenlabs.io/docs/api-reference/models/list */
export const elevenLabsModels: EndpointEntry = {
  format: 'elevenlabs/models',
  path: '/models',
  dialect: modelListDialect({
    items: undefined,
    read: (item) => named(item, 'model_id', { name: item.name as string }),
  }),
};

/** https://developers.deepgram.com/reference/manage/models/list */
export const deepgramModels: EndpointEntry = {
  format: 'deepgram/models',
  path: '/models',
  dialect: modelListDialect({
    items: ['stt', 'tts'],
    read: (item) => named(item, 'canonical_name', { name: item.name as string }),
  }),
};

/** https://docs.pinecone.io/reference/api/latest/inference/list_models */
export const pineconeModels: EndpointEntry = {
  format: 'pinecone/models',
  path: '/models',
  dialect: modelListDialect({
    items: 'models',
    read: (item) => {
      const model = named(item, 'model', { type: item.type as string });
      return model === undefined ? undefined : { ...model, ownedBy: stringOf(item.provider_name) };
    },
  }),
};

/** https://platform.stability.ai/docs/api-reference#tag/Engines: those of its first version. */
export const stabilityModels: EndpointEntry = {
  format: 'stability/models',
  path: '/v1/engines/list',
  dialect: modelListDialect({
    items: undefined,
    read: (item) => named(item, 'id', { name: item.name as string }),
  }),
};
