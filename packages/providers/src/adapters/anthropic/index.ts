import type { ProviderEntry } from '../../contract.ts';
import { anthropicModels } from '../../dialects/models/index.ts';

/**
 * Anthropic speaks its own format, which `codecs/anthropic-messages` knows:
 * messages pass natively, chat completions are translated.
 */
export const anthropic: ProviderEntry = {
  id: 'anthropic',
  name: 'Anthropic',
  baseUrl: 'https://api.anthropic.com/v1',
  auth: { type: 'header', header: 'x-api-key' },
  endpoints: {
    messages: { format: 'anthropic-messages', path: '/messages' },
    messagesCountTokens: { format: 'anthropic-count-tokens', path: '/messages/count_tokens' },
    listModels: anthropicModels,
  },
  headers: { 'anthropic-version': '2023-06-01' },
  callerHeaders: ['anthropic-version', 'anthropic-beta'],
  source: 'https://docs.claude.com/en/api/overview, November 2026',
};
