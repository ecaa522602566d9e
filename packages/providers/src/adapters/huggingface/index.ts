import { addressSetting } from '../../address.ts';
import type { CallFacts } from '../../call-facts.ts';
import type { ProviderEntry } from '../../contract.ts';

/** The router, or a dedicated endpoint by its address. Both keep the version in the path. */
export const huggingface: ProviderEntry = {
  id: 'huggingface',
  name: 'Hugging Face',
  aliases: ['hugging-face'],
  baseUrl: ({ setting }: CallFacts): string => {
    const own = setting('huggingface-base-url');
    return own === undefined
      ? 'https://router.huggingface.co'
      : addressSetting('huggingface-base-url', own);
  },
  auth: { type: 'bearer' },
  endpoints: {
    chatComplete: { format: 'openai-chat', path: '/v1/chat/completions' },
    complete: { format: 'openai-completions', path: '/v1/completions' },
    listModels: { format: 'openai-models', path: '/v1/models', method: 'GET' },
  },
  settings: ['huggingface-base-url'],
  quirks: { developerAsSystem: true },
  source: 'https://huggingface.co/docs/inference-providers/providers/nscale, November 2026',
  note: 'A model may name who serves it after a colon, e.g. meta-llama/Llama-3.1-8B-Instruct:nscale.',
};
