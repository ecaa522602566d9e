import type { ProviderEntry } from '../contract.ts';
import { linewise } from '../framing/linewise-sse.ts';
import { openAiCallIds } from '../translation/call-id-rules.ts';
import { keepsFiles, keepsFilesAndBatches } from './keepings.ts';
import { compatible, offering, openAiEndpoints, openAiFields } from './openai-endpoints.ts';
import { realtimeEndpoints } from './realtime-endpoints.ts';

/** OpenAI's formats, with fields to rename, to hold back or to bound. */
export const providersWithQuirks: readonly ProviderEntry[] = [
  {
    ...compatible,
    id: 'byteplus',
    name: 'BytePlus ModelArk',
    // A key is of one region.
    baseUrl: ({ setting }) =>
      setting('byteplus-region') === 'eu-west-1'
        ? 'https://ark.eu-west.bytepluses.com/api/v3'
        : 'https://ark.ap-southeast.bytepluses.com/api/v3',
    endpoints: offering('chatComplete', 'embed', 'imageGenerate', 'createModelResponse'),
    settings: ['byteplus-region'],
    quirks: { ...compatible.quirks, effortSwitchesThinking: true },
    source: 'https://docs.getbifrost.ai/providers/supported-providers/byteplus, November 2026',
  },
  {
    ...compatible,
    id: 'cerebras',
    keeps: keepsFiles,
    name: 'Cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    endpoints: offering('chatComplete', 'complete', 'listModels'),
    // These are answered with 400.
    quirks: {
      ...compatible.quirks,
      drop: ['frequency_penalty', 'presence_penalty', 'logit_bias', ...openAiFields],
      outputTokensField: 'max_completion_tokens',
      // https://inference-docs.cerebras.ai/capabilities/reasoning
      thinkingBack: {
        content: (thinking, text, model) =>
          model.startsWith('gpt-oss') ? thinking + text : `<think>${thinking}</think>${text}`,
      },
    },
    source: 'https://inference-docs.cerebras.ai/resources/openai, November 2026',
  },
  {
    ...compatible,
    id: 'dashscope',
    keeps: keepsFiles,
    name: 'Alibaba DashScope (Qwen)',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    endpoints: offering('chatComplete', 'embed', 'listModels'),
    accountHeaders: ['x-dashscope-workspace'],
    quirks: {
      ...compatible.quirks,
      takesTopK: true,
      thinkingBack: { field: 'reasoning_content' },
      // https://www.alibabacloud.com/help/en/model-studio/context-cache
      cacheMarks: { onTools: false, onRequest: false, anHour: false, models: /qwen/i },
    },
    source:
      'https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai-with-dashscope, November 2026',
    note: 'Keys of mainland China want the custom host https://dashscope.aliyuncs.com/compatible-mode/v1; workspaces may have one of their own.',
  },
  {
    ...compatible,
    id: 'deepbricks',
    name: 'Deepbricks',
    baseUrl: 'https://api.deepbricks.ai/v1',
    endpoints: offering('chatComplete', 'imageGenerate'),
    settings: ['openai-organization', 'openai-project'],
    settingHeaders: {
      'deepbricks-organization': 'openai-organization',
      'deepbricks-project': 'openai-project',
    },
    quirks: { ...compatible.quirks, rename: { max_completion_tokens: 'max_tokens' } },
    source: 'address as other gateways use it, November 2026',
    note: 'No documentation of the vendor was found to confirm the address.',
  },
  {
    ...compatible,
    id: 'deepinfra',
    keeps: keepsFiles,
    name: 'DeepInfra',
    baseUrl: 'https://api.deepinfra.com/v1/openai',
    endpoints: {
      ...offering('complete', 'embed', 'imageGenerate', 'listModels'),
      chatComplete: { ...openAiEndpoints.chatComplete, envelope: linewise },
    },
    quirks: { ...compatible.quirks, takesTopK: true },
    source: 'https://deepinfra.com/black-forest-labs/FLUX-pro/api, November 2026',
  },
  {
    ...compatible,
    id: 'deepseek',
    name: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com',
    endpoints: {
      chatComplete: { format: 'openai-chat', path: '/v1/chat/completions' },
      complete: { format: 'openai-completions', path: '/beta/completions' },
      listModels: { format: 'openai-models', path: '/models', method: 'GET' },
    },
    quirks: {
      ...compatible.quirks,
      rename: { max_completion_tokens: 'max_tokens' },
      effortSwitchesThinking: true,
      thinkingBack: { field: 'reasoning_content' },
    },
    source: 'https://api-docs.deepseek.com/guides/thinking_mode, November 2026',
  },
  {
    ...compatible,
    id: 'groq',
    name: 'Groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    endpoints: offering(
      'chatComplete',
      'createModelResponse',
      'createSpeech',
      'createTranscription',
      'createTranslation',
      'listModels',
    ),
    keeps: keepsFilesAndBatches,
    // These are answered with 400.
    quirks: {
      ...compatible.quirks,
      drop: ['logprobs', 'top_logprobs', 'logit_bias', ...openAiFields],
      // With any other model the field is a 400: https://console.groq.com/docs/changelog.
      thinkingBack: { field: 'reasoning', models: /qwen3/ },
    },
    source:
      'https://www.developersdigest.tech/reference/api-compatibility/groq; refused fields: https://hexdocs.pm/nexlm/Nexlm.Providers.Groq.html, November 2026',
  },
  {
    ...compatible,
    id: 'lemonfox-ai',
    name: 'Lemonfox AI',
    baseUrl: 'https://api.lemonfox.ai/v1',
    endpoints: {
      ...offering('chatComplete', 'createTranscription'),
      imageGenerate: { ...openAiEndpoints.imageGenerate, quirks: { clamp: { n: [1, 8] } } },
    },
    source: 'address as other gateways use it, November 2026',
  },
  {
    ...compatible,
    id: 'minimax',
    name: 'MiniMax',
    baseUrl: 'https://api.minimax.io/v1',
    endpoints: offering('chatComplete', 'listModels'),
    quirks: {
      ...compatible.quirks,
      outputTokensField: 'max_completion_tokens',
      translated: { reasoning_split: true },
      thinkingBack: { details: true },
    },
    source: 'https://platform.minimaxi.com/docs/api-reference/text-openai-api, November 2026',
    note: 'Keys of mainland China want the custom host https://api.minimaxi.com/v1.',
  },
  {
    ...compatible,
    id: 'moonshot',
    keeps: keepsFiles,
    name: 'Moonshot AI (Kimi)',
    baseUrl: 'https://api.moonshot.cn/v1',
    endpoints: offering('chatComplete', 'listModels'),
    quirks: { ...compatible.quirks, thinkingBack: { field: 'reasoning_content' } },
    source: 'https://docs.litellm.ai/docs/providers/moonshot, November 2026',
    note: 'Keys of the global platform want the custom host https://api.moonshot.ai/v1.',
  },
  {
    ...compatible,
    id: 'ncompass',
    name: 'nCompass',
    baseUrl: 'https://api.ncompass.tech/v1',
    endpoints: offering('chatComplete'),
    quirks: {
      ...compatible.quirks,
      rename: { max_completion_tokens: 'max_tokens' },
      clamp: { n: [1, 1] },
    },
    source: 'address as other gateways use it, November 2026',
    note: 'No documentation of the vendor was found to confirm the address.',
  },
  {
    ...compatible,
    id: 'openrouter',
    name: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    endpoints: offering('chatComplete', 'complete', 'embed', 'createModelResponse', 'listModels'),
    // Who is asking, for its rankings: never set by the gateway itself.
    callerHeaders: ['http-referer', 'x-title'],
    quirks: {
      ...compatible.quirks,
      takesTopK: true,
      thinkingBack: { field: 'reasoning', details: true },
      callIds: openAiCallIds,
      // https://openrouter.ai/docs/guides/best-practices/prompt-caching
      cacheMarks: { onTools: true, onRequest: true, anHour: true, models: /claude|qwen/i },
    },
    source: 'https://openrouter.ai/docs/api-reference/overview, November 2026',
  },
  {
    ...compatible,
    id: 'sambanova',
    name: 'SambaNova',
    baseUrl: 'https://api.sambanova.ai/v1',
    endpoints: {
      ...offering('embed', 'listModels'),
      chatComplete: { ...openAiEndpoints.chatComplete, envelope: linewise },
    },
    quirks: { ...compatible.quirks, takesTopK: true },
    source: 'https://docs.sambanova.ai/docs/en/features/openai-compatibility, November 2026',
  },
  {
    ...compatible,
    id: 'x-ai',
    name: 'xAI',
    baseUrl: 'https://api.x.ai/v1',
    endpoints: {
      ...offering(
        'chatComplete',
        'complete',
        'embed',
        'imageGenerate',
        'createModelResponse',
        'listModels',
      ),
      realtime: realtimeEndpoints.realtime,
    },
    keeps: { responses: {}, files: {} },
    source: 'https://docs.x.ai/api-reference, November 2026',
    note: 'The vendor calls chat completions deprecated; new features come to the Responses API.',
  },
  {
    ...compatible,
    id: 'z-ai',
    name: 'Z.ai',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    endpoints: offering('chatComplete', 'imageGenerate'),
    quirks: {
      ...compatible.quirks,
      rename: { max_completion_tokens: 'max_tokens' },
      effortSwitchesThinking: true,
      thinkingBack: { field: 'reasoning_content' },
    },
    source: 'https://docs.z.ai/api-reference/introduction, November 2026',
  },
  {
    ...compatible,
    id: 'zhipu',
    keeps: keepsFiles,
    name: 'Zhipu AI (BigModel)',
    baseUrl: 'https://open.bigmodel.cn/api/paas/v4',
    endpoints: offering('chatComplete', 'embed', 'imageGenerate'),
    quirks: {
      ...compatible.quirks,
      rename: { max_completion_tokens: 'max_tokens' },
      effortSwitchesThinking: true,
      thinkingBack: { field: 'reasoning_content' },
    },
    source: 'https://docs.litellm.ai/docs/providers/bigmodel, November 2026',
  },
];
