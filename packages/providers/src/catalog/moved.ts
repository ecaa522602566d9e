import type { ProviderEntry } from '../contract.ts';
import { keepsFiles } from './keepings.ts';
import { compatible, offering } from './openai-endpoints.ts';

/** Compatible providers that moved, closed, or serve each customer at an address of its own. */
export const movedProviders: readonly ProviderEntry[] = [
  {
    ...compatible,
    id: 'anyscale',
    name: 'Anyscale Endpoints',
    baseUrl: 'https://api.endpoints.anyscale.com/v1',
    endpoints: offering('chatComplete', 'complete', 'embed'),
    quirks: { ...compatible.quirks, rename: { max_completion_tokens: 'max_tokens' } },
    source: 'https://docs.anyscale.com/endpoints/text-generation/deprecations, November 2026',
    note: 'Retired: the public service closed on 1 August 2024. Name your own service as the custom host.',
  },
  {
    ...compatible,
    id: 'github',
    name: 'GitHub Models',
    baseUrl: 'https://models.github.ai/inference',
    endpoints: offering('chatComplete', 'embed'),
    source: 'https://github.com/orgs/community/discussions/203602, November 2026',
    note: 'Retired: the service closed on 30 July 2026.',
  },
  {
    ...compatible,
    id: 'kluster-ai',
    keeps: keepsFiles,
    name: 'kluster.ai',
    baseUrl: 'https://api.kluster.ai/v1',
    endpoints: offering('chatComplete', 'embed'),
    source:
      'https://dev.to/apiclawhq/klusterais-api-is-going-away-a-migration-guide-and-5-alternatives-p59, November 2026',
    note: 'Retired: the vendor was acquired, and its address no longer resolves since October 2026.',
  },
  {
    ...compatible,
    id: 'lambda',
    name: 'Lambda',
    baseUrl: 'https://api.lambda.ai/v1',
    endpoints: offering('chatComplete', 'complete', 'listModels'),
    source: 'https://apis.apis.io/apis/lambda-labs/inference-api, November 2026',
    note: 'Moved from https://api.lambdalabs.com/v1; the vendor is winding the service down in favour of own deployments.',
  },
  {
    ...compatible,
    id: 'lepton',
    name: 'Lepton AI',
    baseUrl: 'https://api.lepton.ai/api/v1',
    endpoints: offering('chatComplete', 'complete', 'createTranscription'),
    source: 'https://github.com/leptonai/leptonai, November 2026',
    note: 'Now NVIDIA DGX Cloud Lepton, where each deployment has an address of its own: name it as the custom host.',
  },
  {
    ...compatible,
    id: 'monsterapi',
    name: 'Monster API',
    baseUrl: 'https://llm.monsterapi.ai/v1',
    endpoints: offering('chatComplete'),
    quirks: { ...compatible.quirks, clamp: { temperature: [0, 1] }, takesTopK: true },
    source: 'address as other gateways use it, November 2026',
    note: 'No documentation of the vendor was found to confirm the address.',
  },
];
