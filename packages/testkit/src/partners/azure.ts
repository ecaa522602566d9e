import {
  at,
  hasAddress,
  isForbidden,
  masked,
  textAt,
  textsAt,
  type Vendor,
  type VendorRequest,
  vendorKey,
} from './vendor.ts';

const host = 'contoso.cognitiveservices.azure.com';
const entraToken = 'token-of-entra';

function knows({ headers }: VendorRequest): boolean {
  return (
    headers['ocp-apim-subscription-key'] === vendorKey ||
    headers.authorization === `Bearer ${entraToken}`
  );
}

/** What Content Safety takes as a text. */
function textOf(body: unknown, name: string): string | undefined {
  const text = textAt(body, name);
  return text !== undefined && text.length <= 10_000 ? text : undefined;
}

export const azureVendors: readonly Vendor[] = [
  {
    host,
    path: '/contentsafety/text:analyze',
    knows,
    answer({ body, query }) {
      const text = textOf(body, 'text');
      const lists = at(body, 'blocklistNames') ?? [];
      if (query.get('api-version') !== '2024-09-01' || text === undefined || !Array.isArray(lists))
        return undefined;
      const isHit = lists.includes('rivals') && text.includes('rival');
      return {
        blocklistsMatch: isHit
          ? [{ blocklistName: 'rivals', blocklistItemId: 'i1', blocklistItemText: 'rival' }]
          : [],
        categoriesAnalysis: ['Hate', 'SelfHarm', 'Sexual', 'Violence'].map((category) => ({
          category,
          severity: category === 'Violence' && isForbidden(text) ? 4 : 0,
        })),
      };
    },
  },
  {
    host,
    path: '/contentsafety/text:shieldPrompt',
    knows,
    answer({ body, query }) {
      const text = textOf(body, 'userPrompt');
      if (query.get('api-version') !== '2024-09-01' || text === undefined) return undefined;
      return {
        userPromptAnalysis: { attackDetected: isForbidden(text) },
        documentsAnalysis: [],
      };
    },
  },
  {
    host,
    path: '/contentsafety/text:detectProtectedMaterial',
    knows,
    answer({ body, query }) {
      const text = textOf(body, 'text');
      if (query.get('api-version') !== '2024-09-01' || text === undefined) return undefined;
      return { protectedMaterialAnalysis: { detected: isForbidden(text) } };
    },
  },
  {
    host,
    path: '/language/:analyze-text',
    knows,
    answer({ body, query }) {
      const texts = textsAt(body, 'analysisInput.documents', 'text');
      if (
        query.get('api-version') !== '2024-11-01' ||
        textAt(body, 'kind') !== 'PiiEntityRecognition' ||
        texts === undefined
      )
        return undefined;
      return {
        kind: 'PiiEntityRecognitionResults',
        results: {
          documents: texts.map((text, index) => ({
            id: `${index}`,
            redactedText: masked(text, '*'.repeat(15)),
            entities: hasAddress(text) ? [{ category: 'Email', text: 'ada@example.com' }] : [],
            warnings: [],
          })),
          errors: [],
          modelVersion: '2025-11-01',
        },
      };
    },
  },
  {
    host: 'login.microsoftonline.com',
    path: '/tenant-1/oauth2/v2.0/token',
    knows: ({ body }) => textAt(body, 'client_secret') === vendorKey,
    answer: ({ body }) =>
      textAt(body, 'grant_type') === 'client_credentials' &&
      textAt(body, 'scope') === 'https://cognitiveservices.azure.com/.default'
        ? { token_type: 'Bearer', expires_in: 3599, access_token: entraToken }
        : undefined,
  },
];
