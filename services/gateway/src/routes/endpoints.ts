import type { Endpoint } from '@sluice/providers';

/**
 * The unified endpoints with a body, and where they are. The busiest come first.
 */
export const endpointPaths: readonly { endpoint: Endpoint; pathname: string }[] = [
  { endpoint: 'chatComplete', pathname: '/v1/chat/completions' },
  { endpoint: 'embed', pathname: '/v1/embeddings' },
  { endpoint: 'messages', pathname: '/v1/messages' },
  { endpoint: 'complete', pathname: '/v1/completions' },
  { endpoint: 'createModelResponse', pathname: '/v1/responses' },
  { endpoint: 'messagesCountTokens', pathname: '/v1/messages/count_tokens' },
  { endpoint: 'rerank', pathname: '/v1/rerank' },
  { endpoint: 'moderate', pathname: '/v1/moderations' },
  { endpoint: 'imageGenerate', pathname: '/v1/images/generations' },
  { endpoint: 'imageEdit', pathname: '/v1/images/edits' },
  { endpoint: 'imageVariation', pathname: '/v1/images/variations' },
  { endpoint: 'createSpeech', pathname: '/v1/audio/speech' },
  { endpoint: 'createTranscription', pathname: '/v1/audio/transcriptions' },
  { endpoint: 'createTranslation', pathname: '/v1/audio/translations' },
  { endpoint: 'ocr', pathname: '/v1/ocr' },
];
