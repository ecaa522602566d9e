import type { JsonObject } from '@sluice/contracts';
import { compatible, openAiEndpoints } from '../../catalog/openai-endpoints.ts';
import type { EndpointChoice, EndpointEntry, Envelope, ProviderEntry } from '../../contract.ts';
import { compact, objectOf } from '../../json/json-access.ts';

const chat: EndpointEntry = openAiEndpoints.chatComplete;

/** The Agent API wants the shape of an answer where chat completions have it. @perplexity-ai/perplexity_ai 0.38, August 2026 */
const agent: Envelope = {
  wrap(body) {
    const text = objectOf(body.text);
    const format = objectOf(text?.format);
    if (format?.type !== 'json_schema') return undefined;
    const { type, ...schema } = format;
    const { format: _, ...rest } = text as JsonObject;
    return compact({
      ...body,
      text: Object.keys(rest).length === 0 ? undefined : rest,
      response_format: { type, json_schema: schema },
    }) as JsonObject;
  },
};

/** Models of all vendors, named `vendor/model`, are served by the Agent API alone; chat completions know Sonar. */
const chatComplete: EndpointChoice = {
  choose: ({ model }) => (model.includes('/') ? undefined : chat),
  all: [chat],
};

export const perplexityAi: ProviderEntry = {
  ...compatible,
  id: 'perplexity-ai',
  name: 'Perplexity AI',
  baseUrl: 'https://api.perplexity.ai',
  endpoints: {
    chatComplete,
    createModelResponse: { format: 'openai-responses', path: '/v1/responses', envelope: agent },
  },
  knownPaths: [{ pattern: /^\/search$/, format: 'perplexity/search' }],
  quirks: { ...compatible.quirks, clamp: { n: [1, 1] }, takesTopK: true, joinsTurns: true },
  source: 'https://docs.perplexity.ai/docs/agent-api/migrate-from-sonar/overview, November 2026',
  note: 'Chat completions (sonar, sonar-pro …) are supported no more since 27 September 2026; perplexity/sonar and other vendors’ models are asked by the Agent API.',
};
