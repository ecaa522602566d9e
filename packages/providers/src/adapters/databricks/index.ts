import { checkedSetting, namesIn, requiredSetting } from '../../address.ts';
import type { CallFacts } from '../../call-facts.ts';
import { openAiPathsAnywhere } from '../../catalog/openai-endpoints.ts';
import type { EndpointChoice, EndpointEntry, ProviderEntry } from '../../contract.ts';

/**
 * One address for all models of a workspace: OpenAI's formats for every model,
 * Anthropic's for Claude. A serving endpoint, where one is named, takes all
 * calls at a single path.
 * https://docs.databricks.com/aws/en/ai-gateway/query-model-services
 */
export const databricks: ProviderEntry = {
  id: 'databricks',
  name: 'Databricks Model Serving',
  baseUrl: workspaceUrl,
  auth: { type: 'bearer' },
  endpoints: {
    chatComplete: atGateway({ format: 'openai-chat', path: '/mlflow/v1/chat/completions' }),
    complete: atGateway({ format: 'openai-completions', path: '/mlflow/v1/completions' }),
    embed: atGateway({ format: 'openai-embeddings', path: '/mlflow/v1/embeddings' }),
    createModelResponse: responses(),
    messages: onlyClaude({
      format: 'anthropic-messages',
      path: '/ai-gateway/anthropic/v1/messages',
      headers: { 'anthropic-version': '2023-06-01' },
    }),
  },
  knownPaths: [
    ...openAiPathsAnywhere,
    { pattern: /(?:^|\/v1)\/messages$/, format: 'anthropic-messages' },
  ],
  callerHeaders: ['anthropic-version', 'anthropic-beta'],
  accountHeaders: ['x-databricks-org-id', 'x-databricks-workspace-id'],
  settings: ['databricks-workspace', 'databricks-serving-endpoint-name'],
  servedBy: ({ setting }) => namesIn(setting, 'databricks-serving-endpoint-name'),
  quirks: { developerAsSystem: true },
  source: 'https://docs.databricks.com/aws/en/ai-gateway/query-model-services, November 2026',
};

/** Not all below these domains is a workspace: there are tenants' pages and apps, too. */
const workspaceHost =
  /^(?:[a-z0-9-]+\.(?:cloud|gcp|dev)\.databricks\.com|adb-\d+\.\d+\.azuredatabricks\.net)$/;

/** A workspace's name, or its whole host, as Azure and Google Cloud have other ones. */
function workspaceUrl({ setting }: CallFacts): string {
  const workspace = requiredSetting(setting, 'databricks-workspace');
  const isHost = workspaceHost.test(workspace);
  return `https://${isHost ? workspace : `${workspace}.cloud.databricks.com`}`;
}

function servingEndpoint({ setting }: CallFacts): string | undefined {
  const name = setting('databricks-serving-endpoint-name');
  return name === undefined ? undefined : checkedSetting('databricks-serving-endpoint-name', name);
}

function atGateway(entry: EndpointEntry): EndpointEntry {
  const path = (facts: CallFacts): string => {
    const name = servingEndpoint(facts);
    return name === undefined
      ? `/ai-gateway${String(entry.path)}`
      : `/serving-endpoints/${name}/invocations`;
  };
  return { ...entry, path };
}

/** OpenAI's own models answer in their own format; others are emulated. */
function responses(): EndpointChoice {
  const native: EndpointEntry = {
    format: 'openai-responses',
    path: '/ai-gateway/openai/v1/responses',
  };
  return {
    all: [native],
    choose: (facts) =>
      servingEndpoint(facts) === undefined && /(?:^|[.-])gpt-/.test(facts.model)
        ? native
        : undefined,
  };
}

function onlyClaude(entry: EndpointEntry): EndpointChoice {
  return {
    all: [entry],
    choose: (facts) =>
      servingEndpoint(facts) === undefined && facts.model.includes('claude') ? entry : undefined,
  };
}
