import type { ProviderEntry } from '../contract.ts';
import { compatible, offering, openAiEndpoints, rerank } from './openai-endpoints.ts';

/** Servers that somebody runs: a custom host names them, and its host rules apply. */
export const selfHostedProviders: readonly ProviderEntry[] = [
  {
    ...compatible,
    id: 'local-ai',
    name: 'LocalAI (self-hosted)',
    // Its own default; a real one is named by the custom host.
    baseUrl: 'http://localhost:8080/v1',
    endpoints: offering(
      'chatComplete',
      'complete',
      'embed',
      'imageGenerate',
      'createSpeech',
      'createTranscription',
      'listModels',
    ),
    quirks: { ...compatible.quirks, takesTopK: true },
    source: 'https://localai.io/basics/try, November 2026',
  },
  {
    ...compatible,
    id: 'modal',
    name: 'Modal',
    baseUrl: '',
    endpoints: offering('chatComplete', 'complete', 'embed', 'listModels'),
    // A pair in place of the key; a server behind Modal's proxy may want both.
    callerHeaders: ['modal-key', 'modal-secret'],
    quirks: { ...compatible.quirks, takesTopK: true },
    source: 'https://modal.com/docs/guide/webhook-proxy-auth, November 2026',
  },
  {
    ...compatible,
    id: 'ollama',
    name: 'Ollama',
    // Its own default; a real one is named by the custom host, with or without /v1.
    baseUrl: 'http://localhost:11434',
    // No key is needed; a proxy in front, or Ollama's cloud, may want one.
    endpoints: {
      chatComplete: { format: 'openai-chat', path: '/v1/chat/completions' },
      complete: { format: 'openai-completions', path: '/v1/completions' },
      embed: { format: 'openai-embeddings', path: '/v1/embeddings' },
      listModels: { format: 'openai-models', path: '/v1/models', method: 'GET' },
    },
    source: 'https://www.developersdigest.tech/reference/api-compatibility/ollama, November 2026',
  },
  {
    // Whatever the custom host speaks: the formats that callers know, unedited.
    id: 'passthrough',
    name: 'Pass-through (any host)',
    baseUrl: '',
    auth: { type: 'bearer' },
    endpoints: {
      ...openAiEndpoints,
      rerank: { format: 'rerank', path: '/rerank' },
      ocr: { format: 'ocr', path: '/ocr' },
      messages: { format: 'anthropic-messages', path: '/messages' },
      messagesCountTokens: { format: 'anthropic-count-tokens', path: '/messages/count_tokens' },
    },
    callerHeaders: ['anthropic-version', 'anthropic-beta'],
    source: 'docs/request-lifecycle.md',
  },
  {
    ...compatible,
    id: 'vllm',
    name: 'vLLM (self-hosted)',
    // Its own default; a real one is named by the custom host.
    baseUrl: 'http://localhost:8000/v1',
    endpoints: { ...offering('chatComplete', 'complete', 'embed', 'listModels'), rerank },
    quirks: { ...compatible.quirks, takesTopK: true },
    source: 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html, November 2026',
  },
];
