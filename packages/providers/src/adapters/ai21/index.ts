import type { ProviderEntry } from '../../contract.ts';

/** AI21's Jamba speaks OpenAI's format; the Jurassic models with a format of their own are retired. */
export const ai21: ProviderEntry = {
  id: 'ai21',
  name: 'AI21 Labs',
  baseUrl: 'https://api.ai21.com/studio/v1',
  auth: { type: 'bearer' },
  endpoints: { chatComplete: { format: 'openai-chat', path: '/chat/completions' } },
  quirks: { developerAsSystem: true },
  source: 'https://docs.ai21.com/reference/jamba-1-6-api-ref, November 2026',
};
