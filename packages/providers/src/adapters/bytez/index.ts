import type { ProviderEntry } from '../../contract.ts';

/** Bytez answers in OpenAI's format here; the one of its own has no usage and no calls of tools. */
export const bytez: ProviderEntry = {
  id: 'bytez',
  name: 'Bytez',
  baseUrl: 'https://api.bytez.com/models/v2/openai/v1',
  auth: { type: 'bearer' },
  endpoints: {
    chatComplete: { format: 'openai-chat', path: '/chat/completions' },
    complete: { format: 'openai-completions', path: '/completions' },
  },
  quirks: { developerAsSystem: true },
  source:
    'https://docs.bytez.com/http-reference/examples/openai-compliant/chatCompletionsExample, November 2026',
};
