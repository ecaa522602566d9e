import { GatewayError } from '@sluice/errors';
import { anthropicMessages } from './codecs/anthropic-messages/index.ts';
import type { ChatCodec } from './codecs/chat-codec.ts';
import { NativeCall } from './codecs/native-call.ts';
import { openAiChat } from './codecs/openai-chat/index.ts';
import { TranslatedCall } from './codecs/translated-call.ts';
import type { Endpoint, EndpointEntry, ProviderEntry, WireCall, WireFormat } from './contract.ts';

/** The format callers speak at each endpoint. */
const callerFormats: Record<Endpoint, WireFormat> = {
  chatComplete: 'openai-chat',
  complete: 'openai-completions',
  embed: 'openai-embeddings',
  messages: 'anthropic-messages',
  listModels: 'openai-models',
  proxy: 'raw',
};

/** Formats that translate into each other. */
const chatCodecs: Partial<Record<WireFormat, ChatCodec>> = {
  'openai-chat': openAiChat,
  'anthropic-messages': anthropicMessages,
};

/** Endpoints that another endpoint of the same provider can stand in for. */
const standIns: Partial<Record<Endpoint, Endpoint>> = {
  messages: 'chatComplete',
  chatComplete: 'messages',
};

const RAW: EndpointEntry = { format: 'raw', path: '' };

const prepared = new WeakMap<ProviderEntry, Map<Endpoint, WireCall>>();

/**
 * What an attempt at this provider's endpoint does to bodies; made once per
 * pair. A format that caller and provider share is never translated. Throws
 * `provider.endpoint_unsupported` for what the provider does not offer.
 */
export function prepareCall(provider: ProviderEntry, endpoint: Endpoint): WireCall {
  let calls = prepared.get(provider);
  if (calls === undefined) {
    calls = new Map();
    prepared.set(provider, calls);
  }
  let call = calls.get(endpoint);
  if (call === undefined) {
    call = makeCall(provider, endpoint);
    calls.set(endpoint, call);
  }
  return call;
}

function makeCall(provider: ProviderEntry, endpoint: Endpoint): WireCall {
  const entry = entryOf(provider, endpoint);
  const callerFormat = callerFormats[endpoint];
  if (entry?.format === callerFormat) return new NativeCall(entry);
  const caller = chatCodecs[callerFormat];
  const upstream = entry === undefined ? undefined : chatCodecs[entry.format];
  if (entry !== undefined && caller !== undefined && upstream !== undefined)
    return new TranslatedCall(caller, upstream, entry.path);
  throw new GatewayError('provider.endpoint_unsupported', {
    message: `The provider ${provider.id} does not offer the endpoint ${endpoint}.`,
  });
}

function entryOf(provider: ProviderEntry, endpoint: Endpoint): EndpointEntry | undefined {
  if (endpoint === 'proxy') return RAW;
  const standIn = standIns[endpoint];
  return provider.endpoints[endpoint] ?? (standIn && provider.endpoints[standIn]);
}
