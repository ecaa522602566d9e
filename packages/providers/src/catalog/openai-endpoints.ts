import type { Endpoint } from '@sluice/contracts';
import type { EndpointEntry, KnownPaths, ProviderEntry } from '../contract.ts';
import { commonRerank } from '../dialects/rerank/index.ts';

/** Where OpenAI and all that follow it keep each endpoint. */
export const openAiEndpoints = {
  chatComplete: { format: 'openai-chat', path: '/chat/completions' },
  complete: { format: 'openai-completions', path: '/completions' },
  embed: { format: 'openai-embeddings', path: '/embeddings' },
  createModelResponse: { format: 'openai-responses', path: '/responses' },
  moderate: { format: 'openai-moderations', path: '/moderations' },
  imageGenerate: { format: 'openai-images', path: '/images/generations' },
  imageEdit: { format: 'openai-image-edits', path: '/images/edits' },
  imageVariation: { format: 'openai-image-variations', path: '/images/variations' },
  createSpeech: { format: 'openai-speech', path: '/audio/speech' },
  createTranscription: { format: 'openai-transcriptions', path: '/audio/transcriptions' },
  createTranslation: { format: 'openai-translations', path: '/audio/translations' },
  listModels: { format: 'openai-models', path: '/models', method: 'GET' },
} as const satisfies Partial<Record<Endpoint, EndpointEntry>>;

export type OpenAiEndpoint = keyof typeof openAiEndpoints;

/** These endpoints, at OpenAI's paths. */
export function offering(...endpoints: OpenAiEndpoint[]): ProviderEntry['endpoints'] {
  return Object.fromEntries(endpoints.map((endpoint) => [endpoint, openAiEndpoints[endpoint]]));
}

/** The formats whose calls cost something, at whatever stands before OpenAI's paths. */
export const openAiPathsAnywhere: readonly KnownPaths[] = [
  { pattern: /\/chat\/completions$/, format: 'openai-chat' },
  { pattern: /(?<!\/chat)\/completions$/, format: 'openai-completions' },
  { pattern: /\/embeddings$/, format: 'openai-embeddings' },
  { pattern: /\/responses$/, format: 'openai-responses' },
  { pattern: /\/images\/generations$/, format: 'openai-images' },
  { pattern: /\/images\/edits$/, format: 'openai-image-edits' },
  { pattern: /\/images\/variations$/, format: 'openai-image-variations' },
  { pattern: /\/audio\/speech$/, format: 'openai-speech' },
  { pattern: /\/audio\/transcriptions$/, format: 'openai-transcriptions' },
  { pattern: /\/audio\/translations$/, format: 'openai-translations' },
];

/** What compatible servers took over from others, at the paths they share. */
export const rerank: EndpointEntry = {
  format: 'common/rerank',
  path: '/rerank',
  dialect: commonRerank,
};
export const ocr: EndpointEntry = { format: 'ocr', path: '/ocr' };

/** Fields that OpenAI alone knows, for hosts that refuse what they do not know. Codex sends two of them always. */
export const openAiFields: readonly string[] = [
  'verbosity',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'moderation',
];

/** What is common to compatible providers, who took over the format before the `developer` role came. */
export const compatible = {
  auth: { type: 'bearer' },
  quirks: { developerAsSystem: true },
} as const satisfies Partial<ProviderEntry>;
