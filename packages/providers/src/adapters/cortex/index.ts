import type { ReadSetting } from '../../call-facts.ts';
import { openAiEndpoints } from '../../catalog/openai-endpoints.ts';
import type { EndpointChoice, EndpointEntry, ProviderEntry } from '../../contract.ts';

/** https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-rest-api */
export const cortex: ProviderEntry = {
  id: 'cortex',
  name: 'Snowflake Cortex',
  baseUrl: 'https://{snowflake-account}.snowflakecomputing.com/api/v2/cortex/v1',
  auth: { type: 'headers', make: tokenHeaders },
  endpoints: {
    chatComplete: openAiEndpoints.chatComplete,
    messages: onlyClaude({
      format: 'anthropic-messages',
      path: '/messages',
      headers: { 'anthropic-version': '2023-06-01' },
    }),
  },
  headers: { accept: 'application/json, text/event-stream' },
  callerHeaders: ['anthropic-version', 'anthropic-beta'],
  accountHeaders: ['x-snowflake-role', 'x-snowflake-authorization-token-type'],
  settings: ['snowflake-account', 'snowflake-token-type'],
  quirks: { developerAsSystem: true, outputTokensField: 'max_completion_tokens' },
  source:
    'https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-rest-api, November 2026',
};

/** A token made of a key pair is a JWT and has to be announced; Snowflake tells the others by themselves. */
function tokenHeaders(apiKey: string, setting: ReadSetting): Record<string, string | undefined> {
  if (apiKey === '') return {};
  const isJwt = /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(apiKey);
  return {
    authorization: `Bearer ${apiKey}`,
    'x-snowflake-authorization-token-type':
      setting('snowflake-token-type') ?? (isJwt ? 'KEYPAIR_JWT' : undefined),
  };
}

function onlyClaude(entry: EndpointEntry): EndpointChoice {
  return {
    all: [entry],
    choose: ({ model }) => (model.startsWith('claude') ? entry : undefined),
  };
}
