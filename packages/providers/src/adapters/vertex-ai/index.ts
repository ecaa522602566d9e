import {
  baseUrlOfRegion,
  publisherPath,
  vertexModel,
  vertexSettings,
} from '../../addresses/vertex-ai.ts';
import { keepsFilesAndBatches, keepsTuning, keepsVideos } from '../../catalog/keepings.ts';
import type { EndpointChoice, EndpointEntry, ProviderEntry } from '../../contract.ts';
import { gcsFiles } from '../../files/gcs-files.ts';
import { vertexTuning } from '../../jobs/vertex-tuning.ts';
import { vertexVideos } from '../../jobs/vertex-videos.ts';
import { claudeMessages } from './claude.ts';
import { messagesCountTokens } from './count-tokens.ts';
import { embed } from './embeddings.ts';
import { imageGenerate } from './images.ts';
import { listModels } from './models.ts';
import { endpointChat, metaChat, mistralChat, openChat } from './open-models.ts';
import { rerank } from './rerank.ts';

const geminiChat: EndpointEntry = {
  format: 'gemini',
  path: (facts) =>
    facts.stream
      ? publisherPath(facts, 'streamGenerateContent?alt=sse')
      : publisherPath(facts, 'generateContent'),
};

/** Who does not stand here has open models in the model garden. */
const chatOfPublisher: Readonly<Record<string, EndpointEntry>> = {
  google: geminiChat,
  anthropic: claudeMessages,
  mistralai: mistralChat,
  meta: metaChat,
  endpoints: endpointChat,
};

const chatComplete: EndpointChoice = {
  choose: ({ model }) => chatOfPublisher[vertexModel(model).publisher] ?? openChat,
  all: [geminiChat, claudeMessages, mistralChat, metaChat, openChat, endpointChat],
};

/** Other publishers' models answer messages by way of chat. */
const messages: EndpointChoice = {
  choose: ({ model }) =>
    vertexModel(model).publisher === 'anthropic' ? claudeMessages : undefined,
  all: [claudeMessages],
};

/** Vertex AI: Gemini, Claude, open models and a customer's own endpoints, by publisher (`address.ts`). */
export const vertexAi: ProviderEntry = {
  id: 'vertex-ai',
  name: 'Google Vertex AI',
  baseUrl: baseUrlOfRegion,
  auth: { type: 'google' },
  takesNoQuery: true,
  endpoints: {
    chatComplete,
    messages,
    messagesCountTokens,
    embed,
    imageGenerate,
    rerank,
    listModels,
  },
  knownPaths: [
    { pattern: /\/models\/[^/]+:(?:streamG|g)enerateContent$/, format: 'gemini' },
    {
      pattern: /\/publishers\/anthropic\/models\/[^/]+:(?:streamR|r)awPredict$/,
      format: 'anthropic-messages',
    },
    {
      pattern: /\/publishers\/mistralai\/models\/[^/]+:(?:streamR|r)awPredict$/,
      format: 'openai-chat',
    },
    { pattern: /\/endpoints\/[^/]+\/chat\/completions$/, format: 'openai-chat' },
  ],
  passingVersion: 'v1',
  keeps: { ...keepsFilesAndBatches, ...keepsTuning, ...keepsVideos },
  jobs: { 'fine-tuning jobs': vertexTuning, videos: vertexVideos },
  files: gcsFiles,
  callerHeaders: ['anthropic-beta'],
  // Names the project whose quota and bill a call is for.
  accountHeaders: ['x-goog-user-project'],
  settings: [
    ...vertexSettings,
    'vertex-storage-bucket-name',
    'provider-file-name',
    'provider-model',
    'provider-batch-endpoint',
    'file-purpose',
    'anthropic-version',
  ],
  // It goes into the body.
  bareSettings: ['anthropic-version'],
  source: 'https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest, November 2026',
};
