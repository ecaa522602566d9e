import { ai21 } from './adapters/ai21/index.ts';
import { anthropic } from './adapters/anthropic/index.ts';
import { bedrock } from './adapters/bedrock/index.ts';
import { bedrockMantle } from './adapters/bedrock-mantle/index.ts';
import { bytez } from './adapters/bytez/index.ts';
import { claudePlatformAws } from './adapters/claude-platform-aws/index.ts';
import { cohere } from './adapters/cohere/index.ts';
import { google } from './adapters/google/index.ts';
import { oracle } from './adapters/oracle/index.ts';
import { palm } from './adapters/palm/index.ts';
import { predibase } from './adapters/predibase/index.ts';
import { rekaAi } from './adapters/reka-ai/index.ts';
import { sagemaker } from './adapters/sagemaker/index.ts';
import { triton } from './adapters/triton/index.ts';
import { vertexAi } from './adapters/vertex-ai/index.ts';
import { workersAi } from './adapters/workers-ai/index.ts';
import { specialists } from './catalog/specialists.ts';
import type { Endpoint, EndpointEntry, ProviderEntry, Quirks } from './contract.ts';
import { commonRerank } from './dialects/rerank/index.ts';

/** Where OpenAI and all that follow it keep each endpoint. */
const openAiEndpoints = {
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

type OpenAiEndpoint = keyof typeof openAiEndpoints;

function offering(...endpoints: OpenAiEndpoint[]): ProviderEntry['endpoints'] {
  return Object.fromEntries(endpoints.map((endpoint) => [endpoint, openAiEndpoints[endpoint]]));
}

/** Compatible providers took over the format before the `developer` role came. */
const compatible: { auth: ProviderEntry['auth']; quirks: Quirks } = {
  auth: { type: 'bearer' },
  quirks: { developerAsSystem: true },
};

/** Everybody there is. A compatible provider is one entry here and one fixture. */
const entries: readonly ProviderEntry[] = [
  {
    id: 'openai',
    name: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    auth: { type: 'bearer' },
    endpoints: openAiEndpoints,
    callerHeaders: ['openai-organization', 'openai-project', 'openai-beta'],
    configurationHeaders: {
      'openai-organization': 'openai_organization',
      'openai-project': 'openai_project',
      'openai-beta': 'openai_beta',
    },
    quirks: { outputTokensField: 'max_completion_tokens' },
    source: 'https://platform.openai.com/docs/api-reference, November 2026',
  },
  anthropic,
  cohere,
  bedrock,
  bedrockMantle,
  claudePlatformAws,
  sagemaker,
  google,
  vertexAi,
  oracle,
  ai21,
  bytez,
  palm,
  predibase,
  rekaAi,
  triton,
  workersAi,
  {
    // The local server that stands in for a vendor, so that all can be tried without a key.
    id: 'demo',
    name: 'Demo',
    baseUrl: 'http://127.0.0.1:8799/v1',
    auth: { type: 'none' },
    endpoints: {
      ...offering(
        'chatComplete',
        'complete',
        'embed',
        'createModelResponse',
        'moderate',
        'imageGenerate',
        'imageEdit',
        'createSpeech',
        'createTranscription',
        'createTranslation',
        'listModels',
      ),
      rerank: { format: 'common/rerank', path: '/rerank', dialect: commonRerank },
      messages: { format: 'anthropic-messages', path: '/messages' },
    },
    headers: anthropic.headers,
    callerHeaders: anthropic.callerHeaders,
    source: 'packages/demo-upstream',
  },

  {
    ...compatible,
    id: 'cometapi',
    name: 'CometAPI',
    baseUrl: 'https://api.cometapi.com/v1',
    endpoints: offering('chatComplete', 'embed'),
    source: 'https://www.promptfoo.dev/docs/providers/cometapi, November 2026',
  },
  {
    ...compatible,
    id: 'featherless-ai',
    name: 'Featherless AI',
    baseUrl: 'https://api.featherless.ai/v1',
    endpoints: offering('chatComplete', 'complete', 'listModels'),
    source: 'https://featherless.ai/docs/api-overview-and-common-options, November 2026',
  },
  {
    ...compatible,
    id: 'inference-net',
    name: 'inference.net',
    baseUrl: 'https://api.inference.net/v1',
    endpoints: offering('chatComplete', 'listModels'),
    source: 'https://docs.inference.net/cli/overview, November 2026',
  },
  {
    ...compatible,
    id: 'iointelligence',
    name: 'io.net Intelligence',
    baseUrl: 'https://api.intelligence.io.solutions/api/v1',
    endpoints: offering('chatComplete', 'embed', 'listModels'),
    source: 'https://io.net/docs/guides/intelligence/io-intelligence, November 2026',
  },
  {
    ...compatible,
    id: 'lightning-ai',
    name: 'Lightning AI',
    baseUrl: 'https://lightning.ai/api/v1',
    endpoints: offering('chatComplete', 'listModels'),
    source: 'https://lightning.ai/models, November 2026',
  },
  {
    ...compatible,
    id: 'nebius',
    name: 'Nebius AI Studio',
    baseUrl: 'https://api.studio.nebius.ai/v1',
    endpoints: offering('chatComplete', 'complete', 'embed', 'listModels'),
    // The vendor serves the same API at api.tokenfactory.nebius.com since its renaming.
    source: 'https://docs.nebius.com/studio/inference/quickstart, November 2026',
  },
  {
    ...compatible,
    id: 'ovhcloud',
    name: 'OVHcloud AI Endpoints',
    baseUrl: 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1',
    endpoints: offering('chatComplete', 'embed', 'listModels'),
    source: 'https://ovh.github.io/apache-airflow-provider-ovhcloud-ai/ai-endpoints, November 2026',
  },
  {
    ...compatible,
    id: 'upstage',
    name: 'Upstage',
    baseUrl: 'https://api.upstage.ai/v1',
    endpoints: offering('chatComplete', 'embed'),
    source: 'https://console.upstage.ai/api-keys?api=chat-reasoning, November 2026',
  },
  {
    ...compatible,
    id: 'vllm',
    name: 'vLLM (self-hosted)',
    // Its own default; a real one is named by the custom host.
    baseUrl: 'http://localhost:8000/v1',
    endpoints: offering('chatComplete', 'complete', 'embed', 'listModels'),
    source: 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html, November 2026',
  },
  {
    ...compatible,
    id: 'z-ai',
    name: 'Z.ai',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    endpoints: offering('chatComplete'),
    source: 'https://docs.z.ai/api-reference/introduction, November 2026',
  },
  ...specialists,
];

const byId = new Map(entries.map((entry) => [entry.id, entry]));
const byAlias = new Map(
  entries.flatMap((entry) => (entry.aliases ?? []).map((alias) => [alias, entry] as const)),
);

export function findProvider(id: string): ProviderEntry | undefined {
  return byId.get(id) ?? byAlias.get(id);
}

/** In the catalogue's order. */
export function providerIds(): string[] {
  return [...byId.keys()];
}
