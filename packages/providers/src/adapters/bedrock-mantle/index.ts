/**
 * Bedrock's second front, which speaks the vendors' own formats: OpenAI's under
 * `/v1` or `/openai/v1`, by the model, and Anthropic's under `/anthropic/v1`
 * for Claude. What is served where is only told in each model's card.
 */
import type { JsonObject, JsonValue } from '@sluice/contracts';
import { awsSettings, regionOf } from '../../addresses/bedrock.ts';
import type { EndpointChoice, EndpointEntry, Envelope, ProviderEntry } from '../../contract.ts';
import { arrayOf, objectOf } from '../../json/json-access.ts';

/** Beginnings of the names of models under `/openai/v1`; all others are under `/v1`. */
const underOpenAi = ['openai.gpt-5', 'google.gemma-4', 'xai.'];
/** Models that have responses of their own; those of others are made of chat completions. */
const withResponses = ['openai.', 'xai.'];
/** Models that have nothing but responses. */
const onlyResponses = ['openai.gpt-5.4', 'openai.gpt-5.5'];

function base(path: string): (facts: { setting: Parameters<typeof regionOf>[0] }) => string {
  return ({ setting }) => `https://bedrock-mantle.${regionOf(setting)}.api.aws${path}`;
}

const openAiBase = base('/openai/v1');

const messages: EndpointEntry = {
  format: 'anthropic-messages',
  baseUrl: base('/anthropic/v1'),
  path: '/messages',
  headers: { 'anthropic-version': '2023-06-01' },
};

/** Gemma's schemas do not know `propertyNames`, and refuse the whole request over it. */
const gemma: Envelope = {
  wrap(body) {
    const tools = arrayOf(body.tools);
    return tools === undefined ? undefined : { ...body, tools: tools.map(withoutPropertyNames) };
  },
};

function withoutPropertyNames(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutPropertyNames);
  const object = objectOf(value);
  if (object === undefined) return value;
  const result: JsonObject = {};
  for (const key in object)
    if (key !== 'propertyNames') result[key] = withoutPropertyNames(object[key] as JsonValue);
  return result;
}

const chatPath = { format: 'openai-chat', path: '/chat/completions' } as const;
const chat: Readonly<Record<'plain' | 'openAi' | 'gemma' | 'openAiGemma', EndpointEntry>> = {
  plain: chatPath,
  openAi: { ...chatPath, baseUrl: openAiBase },
  gemma: { ...chatPath, envelope: gemma },
  openAiGemma: { ...chatPath, baseUrl: openAiBase, envelope: gemma },
};
const responsesPath = { format: 'openai-responses', path: '/responses' } as const;
const responses: Readonly<Record<'plain' | 'openAi', EndpointEntry>> = {
  plain: responsesPath,
  openAi: { ...responsesPath, baseUrl: openAiBase },
};

function begins(model: string, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => model.startsWith(prefix));
}

function isClaude(model: string): boolean {
  return model.startsWith('anthropic.');
}

const chatComplete: EndpointChoice = {
  choose({ model }) {
    if (isClaude(model) || begins(model, onlyResponses)) return undefined;
    const isOpenAi = begins(model, underOpenAi);
    if (model.startsWith('google.gemma')) return isOpenAi ? chat.openAiGemma : chat.gemma;
    return isOpenAi ? chat.openAi : chat.plain;
  },
  all: Object.values(chat),
};

const createModelResponse: EndpointChoice = {
  choose({ model }) {
    if (!begins(model, withResponses)) return undefined;
    return begins(model, underOpenAi) ? responses.openAi : responses.plain;
  },
  all: Object.values(responses),
};

export const bedrockMantle: ProviderEntry = {
  id: 'bedrock-mantle',
  name: 'Amazon Bedrock Mantle',
  baseUrl: base('/v1'),
  auth: { type: 'aws', service: 'bedrock-mantle' },
  accountHeaders: ['x-amz-security-token'],
  endpoints: {
    chatComplete,
    messages: { choose: ({ model }) => (isClaude(model) ? messages : undefined), all: [messages] },
    createModelResponse,
    listModels: { format: 'openai-models', path: '/models', method: 'GET' },
  },
  callerHeaders: ['anthropic-version', 'anthropic-beta'],
  settings: awsSettings,
  quirks: { developerAsSystem: true },
  source: 'https://docs.aws.amazon.com/bedrock/latest/userguide/bedrock-mantle.html, November 2026',
  note: 'Which models are served under /openai/v1 is a list by name: https://docs.aws.amazon.com/bedrock/latest/userguide/models-endpoint-availability.html',
};
