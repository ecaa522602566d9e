import { type Endpoint, operations } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { CallFacts } from '../call-facts.ts';
import { anthropicMessages } from '../codecs/anthropic-messages/index.ts';
import { bedrockConverse } from '../codecs/bedrock-converse/index.ts';
import type { CallerCodec, ChatCodec, UpstreamCodec } from '../codecs/chat-codec.ts';
import { cohereChat } from '../codecs/cohere-chat/index.ts';
import { gemini } from '../codecs/gemini/index.ts';
import { ociChat } from '../codecs/oci-chat/index.ts';
import { openAiChat } from '../codecs/openai-chat/index.ts';
import { openAiCompletions } from '../codecs/openai-completions/index.ts';
import { openAiResponses } from '../codecs/openai-responses/index.ts';
import { palmChat } from '../codecs/palm-chat/index.ts';
import { tritonGenerate } from '../codecs/triton-generate/index.ts';
import type {
  ChatFormat,
  EndpointChoice,
  EndpointEntry,
  ProviderEntry,
  Translation,
  WireFormat,
} from '../contract.ts';
import { ChatTranslation } from './chat-translation.ts';
import { DialectTranslation } from './dialect-translation.ts';
import { NativeTranslation } from './native-translation.ts';

/** Formats that translate into each other, both ways. */
export const chatCodecs: Partial<Record<WireFormat, ChatCodec>> = {
  'openai-chat': openAiChat,
  'openai-responses': openAiResponses,
  'anthropic-messages': anthropicMessages,
  'cohere-chat': cohereChat,
  gemini,
  'bedrock-converse': bedrockConverse,
} satisfies Partial<Record<ChatFormat, ChatCodec>>;

/** Formats that callers speak. */
export const callerCodecs: Partial<Record<WireFormat, CallerCodec>> = {
  ...chatCodecs,
  'openai-completions': openAiCompletions,
} satisfies Partial<Record<ChatFormat, CallerCodec>>;

/** Formats that providers speak. */
const upstreamCodecs: Partial<Record<WireFormat, UpstreamCodec>> = {
  ...chatCodecs,
  'oci-chat': ociChat,
  'palm-chat': palmChat,
  'triton-generate': tritonGenerate,
} satisfies Partial<Record<ChatFormat, UpstreamCodec>>;

/** Endpoints that other endpoints of the same provider can stand in for, the best first. */
const standIns: Partial<Record<Endpoint, readonly Endpoint[]>> = {
  chatComplete: ['messages', 'createModelResponse'],
  messages: ['chatComplete', 'createModelResponse'],
  createModelResponse: ['chatComplete', 'messages'],
  complete: ['chatComplete', 'createModelResponse', 'messages'],
};

/** With it, messages are answered by way of responses wherever a provider has them. */
const messagesByResponses = 'use-responses-api-2026-07-30';
const responsesFirst: readonly Endpoint[] = ['createModelResponse', 'chatComplete'];

const raw: EndpointEntry = { format: 'raw', path: '' };

export const noFacts: CallFacts = { model: '', stream: false, setting: () => undefined };

const prepared = new WeakMap<EndpointEntry, Map<Endpoint, Translation>>();

/**
 * What an attempt at this provider's endpoint does to bodies; made once per
 * entry. A format that caller and provider share is never translated. Throws
 * `provider.endpoint_unsupported` for what the provider does not offer.
 */
export function findTranslation(
  provider: ProviderEntry,
  endpoint: Endpoint,
  facts: CallFacts = noFacts,
): Translation {
  const own = translationBy(provider, endpoint, endpoint, facts);
  if (own !== undefined) return own;
  for (const other of standInsOf(endpoint, facts)) {
    const translation = translationBy(provider, other, endpoint, facts);
    if (translation !== undefined) return translation;
  }
  throw new GatewayError('provider.endpoint_unsupported', {
    message: `The provider ${provider.id} does not offer the endpoint ${endpoint}${facts.model === '' ? '' : ' for this model'}.`,
  });
}

function standInsOf(endpoint: Endpoint, { betas }: CallFacts): readonly Endpoint[] {
  if (endpoint === 'messages' && betas?.includes(messagesByResponses) === true)
    return responsesFirst;
  return standIns[endpoint] ?? [];
}

/** The translation of `asked` by way of what the provider has at `offered`, whatever else it has. */
export function translationVia(
  provider: ProviderEntry,
  offered: Endpoint,
  asked: Endpoint,
  facts: CallFacts,
): Translation {
  const found = translationBy(provider, offered, asked, facts);
  if (found !== undefined) return found;
  throw new GatewayError('provider.endpoint_unsupported', {
    message: `The provider ${provider.id} does not offer the endpoint ${asked} for this model.`,
  });
}

/** The translation of `asked` by way of what the provider has at `offered`. */
function translationBy(
  provider: ProviderEntry,
  offered: Endpoint,
  asked: Endpoint,
  facts: CallFacts,
): Translation | undefined {
  const found = offered === 'proxy' ? raw : provider.endpoints[offered];
  const entry = found !== undefined && isChoice(found) ? found.choose(facts, asked) : found;
  // A dialect answers in the words of its own endpoint, so it cannot stand in for another.
  if (entry === undefined || (entry.dialect !== undefined && offered !== asked)) return undefined;
  return translationOf(entry, asked);
}

/** How an endpoint is served, over all models there may be; empty = not at all. For lists of what there is. */
export function modesOf(
  provider: ProviderEntry,
  endpoint: Endpoint,
): ReadonlySet<Translation['mode']> {
  const modes = new Set<Translation['mode']>();
  for (const offeredAt of [endpoint, ...(standIns[endpoint] ?? [])]) {
    const offered = provider.endpoints[offeredAt];
    if (offered === undefined) continue;
    for (const entry of isChoice(offered) ? offered.all : [offered]) {
      const translation = translationOf(entry, endpoint);
      if (translation !== undefined) modes.add(translation.mode);
    }
    // A choice may choose nothing, which leaves it to the next.
    if (!isChoice(offered) && modes.size > 0) break;
  }
  return modes;
}

export function isChoice(offered: EndpointEntry | EndpointChoice): offered is EndpointChoice {
  return 'choose' in offered;
}

/** What an entry of an endpoint does to bodies; undefined = its format is not one that the endpoint's callers can be told. */
export function translationOf(entry: EndpointEntry, endpoint: Endpoint): Translation | undefined {
  let translations = prepared.get(entry);
  if (translations === undefined) {
    translations = new Map();
    prepared.set(entry, translations);
  }
  let translation = translations.get(endpoint);
  if (translation === undefined) {
    translation = makeTranslation(entry, operations[endpoint].format);
    if (translation !== undefined) translations.set(endpoint, translation);
  }
  return translation;
}

function makeTranslation(entry: EndpointEntry, callerFormat: WireFormat): Translation | undefined {
  if (entry.dialect !== undefined)
    return new DialectTranslation(entry, entry.dialect, callerFormat);
  if (entry.format === callerFormat) return new NativeTranslation(entry);
  const caller = callerCodecs[callerFormat];
  const upstream = upstreamCodecs[entry.format];
  if (caller === undefined || upstream === undefined) return undefined;
  return new ChatTranslation(caller, upstream, entry);
}
