import type { ProviderEntry } from '../../contract.ts';

/** Reka moved from `/chat` and its `conversation_history` to OpenAI's format. */
export const rekaAi: ProviderEntry = {
  id: 'reka-ai',
  name: 'Reka AI',
  baseUrl: 'https://api.reka.ai/v1',
  auth: { type: 'bearer' },
  endpoints: {
    chatComplete: { format: 'openai-chat', path: '/chat/completions' },
    listModels: { format: 'openai-models', path: '/models', method: 'GET' },
  },
  quirks: { developerAsSystem: true },
  source: 'https://docs.reka.ai/chat/api-reference/create-chat-completion, November 2026',
};
