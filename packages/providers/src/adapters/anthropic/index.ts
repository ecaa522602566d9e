import type { AuthRecipe } from '../../call-facts.ts';
import { keepsFilesAndBatches } from '../../catalog/keepings.ts';
import type { ProviderEntry } from '../../contract.ts';
import { anthropicModels } from '../../dialects/models/index.ts';
import { anthropicFiles } from '../../files/anthropic-files.ts';

/**
 * Keys have a header of their own. A token of a subscription, as Claude Code
 * sends it, is a bearer token, and no key may stand beside it.
 */
const auth: AuthRecipe = {
  type: 'headers',
  make: (apiKey) => {
    if (apiKey === '') return {};
    return apiKey.startsWith('sk-ant-oat')
      ? { authorization: `Bearer ${apiKey}` }
      : { 'x-api-key': apiKey };
  },
};

/**
 * Anthropic speaks its own format, which `codecs/anthropic-messages` knows:
 * messages pass natively, chat completions are translated.
 */
export const anthropic: ProviderEntry = {
  id: 'anthropic',
  name: 'Anthropic',
  baseUrl: 'https://api.anthropic.com/v1',
  auth,
  endpoints: {
    messages: { format: 'anthropic-messages', path: '/messages' },
    messagesCountTokens: { format: 'anthropic-count-tokens', path: '/messages/count_tokens' },
    listModels: anthropicModels,
  },
  keeps: { ...keepsFilesAndBatches, 'message batches': {}, skills: {} },
  files: anthropicFiles,
  headers: { 'anthropic-version': '2023-06-01' },
  // The vendor's client has parameters for the last two: @anthropic-ai/sdk 1.14, November 2026.
  callerHeaders: [
    'anthropic-version',
    'anthropic-beta',
    'anthropic-workspace-id',
    'anthropic-user-profile-id',
  ],
  source: 'https://docs.claude.com/en/api/overview, November 2026',
};
