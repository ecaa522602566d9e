import type { ProviderEntry } from '../contract.ts';

/** Providers of other things than conversations: every path passes through, with their authorisation. */
export const proxiedProviders: readonly ProviderEntry[] = [
  {
    id: 'meshy',
    name: 'Meshy',
    // Text to 3D is of the second version, all else of the first.
    baseUrl: ({ proxyPath }) =>
      `https://api.meshy.ai/openapi/${proxyPath?.includes('text-to-3d') === true ? 'v2' : 'v1'}`,
    auth: { type: 'bearer' },
    endpoints: {},
    source: 'https://docs.meshy.ai/api/quick-start, November 2026',
  },
  {
    id: 'milvus',
    name: 'Milvus / Zilliz',
    baseUrl: '',
    auth: { type: 'bearer' },
    endpoints: {},
    source: 'https://milvus.io/api-reference/restful/v2.4.x/About.md, November 2026',
  },
  {
    id: 'qdrant',
    name: 'Qdrant',
    baseUrl: '',
    auth: { type: 'header', header: 'api-key' },
    endpoints: {},
    source: 'https://qdrant.tech/documentation/security, November 2026',
  },
  {
    id: 'replicate',
    name: 'Replicate',
    baseUrl: 'https://api.replicate.com/v1',
    auth: { type: 'bearer' },
    endpoints: {},
    source: 'https://replicate.com/docs/topics/predictions/create-a-prediction, November 2026',
  },
  {
    id: 'scenario-ai',
    name: 'Scenario',
    baseUrl: 'https://api.cloud.scenario.com/v1',
    auth: { type: 'basic', secretSetting: 'scenario-api-secret' },
    endpoints: {},
    settings: ['scenario-api-secret'],
    source: 'address as other gateways use it, November 2026',
    note: 'No documentation of the vendor was found to confirm the address.',
  },
  {
    id: 'tripo3d',
    name: 'Tripo3D',
    baseUrl: 'https://api.tripo3d.ai/v2/openapi',
    auth: { type: 'bearer' },
    endpoints: {},
    source: 'https://www.apidog.com/blog/how-to-use-tripo-3d-api, November 2026',
  },
];
