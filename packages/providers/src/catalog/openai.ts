import type { ProviderEntry } from '../contract.ts';
import { openAiCallIds } from '../translation/call-id-rules.ts';
import { chatOrResponses } from './chat-or-responses.ts';
import { openAiKeeps } from './keepings.ts';
import { openAiEndpoints } from './openai-endpoints.ts';
import { realtimeEndpoints } from './realtime-endpoints.ts';

export const openai: ProviderEntry = {
  id: 'openai',
  name: 'OpenAI',
  aliases: ['open-ai'],
  baseUrl: 'https://api.openai.com/v1',
  auth: { type: 'bearer' },
  endpoints: {
    ...openAiEndpoints,
    ...realtimeEndpoints,
    chatComplete: chatOrResponses({ chat: openAiEndpoints.chatComplete }),
  },
  callerHeaders: ['openai-organization', 'openai-project', 'openai-beta'],
  keeps: openAiKeeps,
  quirks: { outputTokensField: 'max_completion_tokens', stopsMax: 4, callIds: openAiCallIds },
  source: 'https://platform.openai.com/docs/api-reference, November 2026',
};
