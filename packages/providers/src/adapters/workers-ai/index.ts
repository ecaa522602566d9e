import { modelPath } from '../../address.ts';
import type { EndpointChoice, EndpointEntry, ProviderEntry } from '../../contract.ts';
import { workersAiModels } from '../../dialects/models/index.ts';
import { images } from './images.ts';

const responses: EndpointEntry = { format: 'openai-responses', path: '/v1/responses' };

/** Responses are offered for OpenAI's open models alone. */
const responsesOfSome: EndpointChoice = {
  choose: ({ model }) => (model.startsWith('@cf/openai/gpt-oss') ? responses : undefined),
  all: [responses],
};

/** Cloudflare's OpenAI surface for conversations; pictures by the model's own path. */
export const workersAi: ProviderEntry = {
  id: 'workers-ai',
  name: 'Cloudflare Workers AI',
  baseUrl: 'https://api.cloudflare.com/client/v4/accounts/{workers-ai-account-id}/ai',
  auth: { type: 'bearer' },
  endpoints: {
    chatComplete: { format: 'openai-chat', path: '/v1/chat/completions' },
    embed: { format: 'openai-embeddings', path: '/v1/embeddings' },
    createModelResponse: responsesOfSome,
    imageGenerate: {
      format: 'workers-ai/images',
      path: ({ model }) => `/run/${modelPath(model).replaceAll('%40', '@')}`,
      dialect: images,
    },
    listModels: {
      format: 'workers-ai/models',
      path: '/models/search',
      query: { per_page: '1000' },
      dialect: workersAiModels,
    },
  },
  settings: ['workers-ai-account-id'],
  quirks: { developerAsSystem: true },
  source:
    'https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility, November 2026',
};
