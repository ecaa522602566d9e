import { keepsFilesAndBatches, keepsTuning } from '../../catalog/keepings.ts';
import { ocr, offering, openAiFields } from '../../catalog/openai-endpoints.ts';
import type { JsonValue, ProviderEntry } from '../../contract.ts';
import { mistralFiles } from '../../files/form-files.ts';
import { mistralTuning } from '../../jobs/mistral-tuning.ts';
import { mistralCallIds } from '../../translation/call-id-rules.ts';

/** https://docs.mistral.ai/capabilities/reasoning: thoughts are chunks of the content, in requests as in replies. */
function thinkingChunks(thinking: string, text: string): JsonValue {
  const thought = { type: 'thinking', thinking: [{ type: 'text', text: thinking }], closed: true };
  return text === '' ? [thought] : [thought, { type: 'text', text }];
}

/** https://docs.mistral.ai/api. Unknown fields are refused with 422, hence the long list. */
export const mistralAi: ProviderEntry = {
  id: 'mistral-ai',
  name: 'Mistral AI',
  baseUrl: 'https://api.mistral.ai/v1',
  auth: { type: 'bearer' },
  endpoints: {
    ...offering('embed', 'moderate', 'createTranscription', 'listModels'),
    chatComplete: {
      format: 'openai-chat',
      // Code models complete between a prompt and a suffix; they answer as chats do.
      path: ({ setting }) =>
        setting('mistral-fim-completion') === 'true' ? '/fim/completions' : '/chat/completions',
    },
    ocr,
  },
  // Whatever the call is told to ask.
  knownPaths: [{ pattern: /^\/(?:agents|chat|fim)\/completions$/, format: 'openai-chat' }],
  keeps: { ...keepsFilesAndBatches, ...keepsTuning },
  jobs: { 'fine-tuning jobs': mistralTuning },
  files: mistralFiles,
  settings: ['mistral-fim-completion', 'provider-model', 'file-purpose'],
  quirks: {
    rename: {
      seed: 'random_seed',
      safe_mode: 'safe_prompt',
      max_completion_tokens: 'max_tokens',
    },
    drop: [
      'stream_options',
      'logit_bias',
      'logprobs',
      'top_logprobs',
      'user',
      'service_tier',
      'store',
      ...openAiFields,
    ],
    clamp: { temperature: [0, 1.5] },
    values: { tool_choice: { required: 'any' } },
    modelPrefix: 'mistralai.',
    developerAsSystem: true,
    callIds: mistralCallIds,
    thinkingBack: { content: thinkingChunks, models: /magistral|mistral-(?:small|medium)/ },
  },
  source:
    'refused fields: https://github.com/editor-code-assistant/eca/issues/231 and https://github.com/mistralai/platform-docs-public/issues/7, November 2026',
  note: 'Keys of Codestral want the custom host https://codestral.mistral.ai/v1.',
};
