import { namesIn } from '../../address.ts';
import type { CallFacts } from '../../call-facts.ts';
import { needsResponses } from '../../catalog/chat-or-responses.ts';
import { openAiKeepsPlainly } from '../../catalog/keepings.ts';
import { openAiEndpoints, openAiPathsAnywhere } from '../../catalog/openai-endpoints.ts';
import { realtimeEndpoints } from '../../catalog/realtime-endpoints.ts';
import type { EndpointChoice, EndpointEntry, ProviderEntry } from '../../contract.ts';
import { azureOcr } from '../../dialects/ocr/index.ts';
import { azureRerank } from '../../dialects/rerank/index.ts';
import { openAiCallIds } from '../../translation/call-id-rules.ts';
import { azureAuthSettings } from '../azure-openai/settings.ts';
import { foundryUrl, isClaude, originOf, servesAllVendors, versioned } from './address.ts';
import { itemsWithTypes } from './responses.ts';

/**
 * Models of many vendors in one resource, or in a deployment of their own. All
 * but Claude speak OpenAI's formats; Claude speaks Anthropic's, under
 * `/anthropic`.
 */
export const azureAi: ProviderEntry = {
  id: 'azure-ai',
  name: 'Azure AI Foundry',
  aliases: ['azure-foundry'],
  baseUrl: foundryUrl,
  auth: { type: 'azure', keyHeader: 'authorization' },
  endpoints: {
    // Claude's chat is served by way of its messages.
    chatComplete: unlessClaudeOrResponses(openAiEndpoints.chatComplete),
    complete: unlessClaude(openAiEndpoints.complete),
    embed: at(openAiEndpoints.embed),
    imageGenerate: at(openAiEndpoints.imageGenerate),
    imageEdit: at(openAiEndpoints.imageEdit),
    createSpeech: at(openAiEndpoints.createSpeech),
    createTranscription: at(openAiEndpoints.createTranscription),
    createTranslation: at(openAiEndpoints.createTranslation),
    realtime: at(realtimeEndpoints.realtime),
    rerank: byVendor(
      { format: 'azure-ai/rerank', path: '/rerank', dialect: azureRerank, quirks: {} },
      '/providers/cohere/v2/rerank',
    ),
    ocr: byVendor(
      { format: 'azure-ai/ocr', path: '/ocr', dialect: azureOcr, quirks: {} },
      '/providers/mistral/azure/ocr',
    ),
    createModelResponse: nativeResponses(),
    messages: onlyClaude({ format: 'anthropic-messages', path: '/v1/messages' }),
    messagesCountTokens: onlyClaude({
      format: 'anthropic-count-tokens',
      path: '/v1/messages/count_tokens',
    }),
    proxy: { format: 'raw', path: (facts) => versioned(facts.proxyPath ?? '', facts) },
  },
  // Fields that a model does not know are dropped by the service, not refused.
  headers: { 'extra-parameters': 'drop' },
  keeps: openAiKeepsPlainly,
  knownPaths: [
    ...openAiPathsAnywhere,
    { pattern: /(?:^|\/v1)\/messages$/, format: 'anthropic-messages' },
  ],
  callerHeaders: ['anthropic-version', 'anthropic-beta'],
  settingHeaders: {
    'extra-parameters': 'azure-extra-params',
    'azureml-model-deployment': 'azure-deployment-name',
  },
  settings: [
    'azure-foundry-url',
    'azure-api-version',
    'azure-endpoint-name',
    'azure-deployment-name',
    'azure-extra-params',
    'provider-responses-proxy',
    ...azureAuthSettings,
  ],
  servedBy: ({ setting }) => namesIn(setting, 'azure-deployment-name', 'azure-endpoint-name'),
  quirks: { developerAsSystem: true, callIds: openAiCallIds },
  // Of a prompt that its filter stops, too: https://learn.microsoft.com/azure/ai-foundry/openai/how-to/manage-costs, September 2026
  chargesRefusals: ['content-filter'],
  source:
    'https://learn.microsoft.com/azure/ai-foundry/model-inference/concepts/endpoints, November 2026',
};

/** At OpenAI's path, with the version where the address needs one. */
function at(entry: EndpointEntry): EndpointEntry {
  return { ...entry, path: (facts) => versioned(String(entry.path), facts) };
}

/** OpenAI's models are asked at their responses for what is only there. */
function unlessClaudeOrResponses(entry: EndpointEntry): EndpointChoice {
  const unless = unlessClaude(entry);
  return {
    all: unless.all,
    choose: (facts, asked) =>
      needsResponses(facts, asked, { refusesNone: true }) ? undefined : unless.choose(facts, asked),
  };
}

function unlessClaude(entry: EndpointEntry): EndpointChoice {
  const versionedEntry = at(entry);
  return {
    all: [versionedEntry],
    choose: (facts) => (isClaude(facts) ? undefined : versionedEntry),
  };
}

function onlyClaude(entry: EndpointEntry): EndpointChoice {
  const claude: EndpointEntry = {
    ...entry,
    baseUrl: claudeUrl,
    auth: { type: 'azure', keyHeader: 'x-api-key' },
    headers: { 'anthropic-version': '2023-06-01' },
  };
  return { all: [claude], choose: (facts) => (isClaude(facts) ? claude : undefined) };
}

function claudeUrl(facts: CallFacts): string {
  const url = foundryUrl(facts);
  if (!url.includes('/anthropic')) return `${originOf(url)}/anthropic`;
  return url.replace(/\/v1$/, '');
}

/** Where one resource serves all vendors, theirs apart from OpenAI's have a path for each. */
function byVendor(entry: EndpointEntry, vendorPath: string): EndpointChoice {
  const own = at(entry);
  const atVendor: EndpointEntry = {
    ...entry,
    baseUrl: (facts) => originOf(foundryUrl(facts)),
    path: vendorPath,
  };
  return {
    all: [own],
    choose: (facts) => (servesAllVendors(facts) ? atVendor : own),
  };
}

/** Responses are emulated unless somebody says that the deployment has them, or the model wants them. */
function nativeResponses(): EndpointChoice {
  const native: EndpointEntry = {
    ...at(openAiEndpoints.createModelResponse),
    envelope: itemsWithTypes,
  };
  /** Of a resource OpenAI's models have them under a path of their own, without a version. */
  const ofOpenAi: EndpointEntry = {
    ...openAiEndpoints.createModelResponse,
    baseUrl: (facts) => `${originOf(foundryUrl(facts))}/openai/v1`,
    envelope: itemsWithTypes,
  };
  return {
    all: [native, ofOpenAi],
    choose: (facts, asked) => {
      if (facts.setting('provider-responses-proxy') === 'true') return native;
      if (!needsResponses(facts, asked, { refusesNone: true })) return undefined;
      return servesAllVendors(facts) ? ofOpenAi : native;
    },
  };
}
