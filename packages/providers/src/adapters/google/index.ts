import { modelSegment } from '../../address.ts';
import type { CallFacts } from '../../call-facts.ts';
import type { ProviderEntry } from '../../contract.ts';
import { countTokens } from './count-tokens.ts';
import { embeddings } from './embeddings.ts';
import { models } from './models.ts';

/**
 * Google AI Studio, the Gemini API. The key goes in a header, never in the
 * address, where logs would see it; streams are asked for as events, since
 * without `alt=sse` they are one growing list.
 */
export const google: ProviderEntry = {
  id: 'google',
  name: 'Google Gemini (AI Studio)',
  baseUrl: 'https://generativelanguage.googleapis.com',
  auth: { type: 'header', header: 'x-goog-api-key' },
  endpoints: {
    chatComplete: {
      format: 'gemini',
      path: (facts) =>
        facts.stream
          ? `${modelPathOf(facts)}:streamGenerateContent?alt=sse`
          : `${modelPathOf(facts)}:generateContent`,
    },
    embed: {
      format: 'google/embeddings',
      path: (facts) => `${modelPathOf(facts)}:batchEmbedContents`,
      dialect: embeddings,
    },
    messagesCountTokens: {
      format: 'google/count-tokens',
      path: (facts) => `${modelPathOf(facts)}:countTokens`,
      dialect: countTokens,
    },
    listModels: {
      format: 'google/models',
      path: '/v1beta/models',
      query: { pageSize: '1000' },
      method: 'GET',
      dialect: models,
    },
  },
  knownPaths: [
    {
      // A custom host may have the version in its own address.
      pattern: /\/(?:models|tunedModels)\/[^/]+:(?:streamG|g)enerateContent$/,
      format: 'gemini',
    },
    {
      pattern: /\/(?:models|tunedModels)\/[^/]+:(?:embedContent|batchEmbedContents)$/,
      format: 'google/embeddings',
    },
    { pattern: /\/models\/imagen[^/]*:predict$/, format: 'google/predictions' },
  ],
  passingVersion: 'v1beta',
  accountHeaders: ['x-goog-user-project'],
  // https://ai.google.dev/gemini-api/docs/priority-inference, November 2026
  tierHeader: 'x-gemini-service-tier',
  // Labels are Vertex AI's alone.
  quirks: { drop: ['labels'] },
  source: 'https://ai.google.dev/api, November 2026',
};

function modelPathOf({ model }: CallFacts): string {
  return `/v1beta/${resourceOf(model)}`;
}

/** Models may be named with their collection; tuned ones must be. */
function resourceOf(model: string): string {
  const [, collection = 'models', name = model] = /^(models|tunedModels)\/(.+)$/.exec(model) ?? [];
  return `${collection}/${modelSegment(name)}`;
}
