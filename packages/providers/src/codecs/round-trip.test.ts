import type {
  ChatMessage,
  ChatPart,
  ChatReply,
  ChatRequest,
  ChatStreamEvent,
  ChatTool,
  JsonObject,
} from '@sluice/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextFor } from '../../test/fixtures.ts';
import type { Feature, Features } from '../../test/round-trips/features.ts';
import { reply } from '../../test/round-trips/replies.ts';
import { request } from '../../test/round-trips/requests.ts';
import { eventsOf, replyOf } from '../../test/round-trips/streams.ts';
import { findProvider } from '../catalog.ts';
import { parseSseEvents } from '../framing/sse.ts';
import { arrayOf, compact, objectOf } from '../json/json-access.ts';
import { chatCodecs } from '../translation/find-translation.ts';
import type { ChatCodec, ReplyOptions } from './chat-codec.ts';
import { claudeCacheMarks, fitCacheMarks } from './fit-cache-marks.ts';

/** What each format can express beyond plain turns, calls, limits and endings. Absent: nothing more. */
const expressible: Record<string, readonly Feature[]> = {
  // Files want a name, and those that are elsewhere are told of in words.
  'openai-chat': [
    'model',
    ...(['image-url', 'image-detail', 'file-id'] as const),
    ...(['audio', 'name', 'call-ids', 'strict-tools', 'choice-none', 'choice-of-tool'] as const),
    ...(['one-call-at-a-time', 'top-p', 'penalties', 'seed', 'logprobs', 'top-logprobs'] as const),
    ...(['logit-bias', 'several-choices', 'stop', 'user', 'json', 'schema'] as const),
    ...(['schema-name', 'effort', 'reply-id', 'reply-model', 'created', 'service-tier'] as const),
    ...(['reply-thinking', 'reply-signature', 'reply-redacted', 'refusal'] as const),
    ...(['content-filter', 'cache-writes', 'cache-writes-1h', 'reasoning-tokens'] as const),
    ...(['audio-tokens', 'reply-logprobs'] as const),
  ],
  'anthropic-messages': [
    'model',
    ...(['image-url', 'file', 'file-url', 'file-id', 'text-file', 'file-title'] as const),
    ...(['signed-thinking', 'redacted-thinking', 'cache-control', 'call-ids'] as const),
    ...(['result-images', 'result-error', 'choice-none', 'choice-of-tool', 'top-p'] as const),
    ...(['one-call-at-a-time', 'top-k', 'stop', 'user', 'schema', 'effort', 'budget'] as const),
    ...(['reply-id', 'reply-model', 'service-tier', 'reply-thinking', 'reply-signature'] as const),
    ...(['reply-redacted', 'content-filter', 'stop-sequence', 'cache-writes'] as const),
    ...(['cache-writes-1h', 'reasoning-tokens', 'streamed-thinking'] as const),
  ],
  // Files want a name, ids and signatures are marked as this format's, an error is told in words,
  // tools are strict unless they say no, and alternatives are told with their likelihoods only.
  'openai-responses': [
    'model',
    ...(['image-url', 'image-detail', 'file-url', 'file-id', 'audio', 'call-ids'] as const),
    ...(['result-images', 'choice-none', 'choice-of-tool', 'top-p'] as const),
    ...(['one-call-at-a-time', 'logprobs', 'user', 'json', 'schema'] as const),
    ...(['schema-name', 'effort', 'reply-model', 'created', 'service-tier'] as const),
    ...(['reply-thinking', 'refusal', 'content-filter', 'cache-writes'] as const),
    ...(['reasoning-tokens', 'reply-logprobs', 'streamed-thinking'] as const),
  ],
  // Answers in JSON are refused beside tools, which all of these have.
  'cohere-chat': [
    'model',
    ...([
      'image-url',
      'image-detail',
      'unsigned-thinking',
      'call-ids',
      'strict-tools',
      'top-p',
    ] as const),
    ...(['top-k', 'penalties', 'seed', 'logprobs', 'stop', 'budget'] as const),
    ...(['reply-id', 'reply-thinking', 'reply-logprobs', 'streamed-thinking'] as const),
  ],
  gemini: [
    ...([
      'file',
      'audio',
      'choice-none',
      'choice-of-tool',
      'top-p',
      'top-k',
      'penalties',
      'seed',
    ] as const),
    ...(['logprobs', 'top-logprobs', 'several-choices', 'stop', 'json', 'schema'] as const),
    // A budget depends on the model, and none serves all formats.
    ...(['reply-id', 'reply-model', 'reply-thinking', 'content-filter'] as const),
    ...(['reasoning-tokens', 'reply-logprobs', 'streamed-thinking'] as const),
  ],
  // Files want a name and a text beside them, and cache points stand between contents.
  'bedrock-converse': [
    ...(['signed-thinking', 'redacted-thinking', 'call-ids', 'result-images'] as const),
    ...(['result-error', 'choice-of-tool', 'top-p', 'stop', 'reply-thinking'] as const),
    ...(['reply-signature', 'reply-redacted', 'content-filter', 'stop-sequence'] as const),
    ...(['cache-writes', 'cache-writes-1h', 'streamed-thinking'] as const),
  ],
};

const codecs = Object.values(chatCodecs) as ChatCodec[];
const context = contextFor(findProvider('openai')!);
const options: ReplyOptions = {
  provider: 'p',
  strict: false,
  nowMs: 1_763_000_000_000,
  requestedModel: undefined,
  request: {},
};

function both(first: ChatCodec, second: ChatCodec): Features {
  const known = new Set(expressible[second.format] ?? []);
  return new Set((expressible[first.format] ?? []).filter((feature) => known.has(feature)));
}

/** Each format and every one, itself too. */
const pairs = codecs.flatMap((first) => codecs.map((second) => ({ first, second })));

describe('what two formats can both express comes back', () => {
  for (const { first, second } of pairs) {
    const name = `${first.format} → ${second.format} → ${first.format}`;
    const features = both(first, second);

    it(`of requests: ${name}`, () => {
      fc.assert(
        fc.property(request(features), (any) => {
          // Parts are never one object, as those of a request that was read are not.
          const apart: ChatRequest = JSON.parse(JSON.stringify(any));
          const generated = fitCacheMarks(apart, claudeCacheMarks, []);
          const told = first.decodeRequest(first.encodeRequest(generated, context).body).request;
          const there = second.encodeRequest(told, context);
          const read = second.decodeRequest(there.body).request;
          const back = first.encodeRequest(read, context);
          const again = first.decodeRequest(back.body).request;
          expect(there.dropped).toEqual([]);
          expect(requestFacts(told, features)).toEqual(requestFacts(generated, features));
          expect(requestFacts(again, features)).toEqual(requestFacts(generated, features));
        }),
        { numRuns: 60 },
      );
    });

    it(`of replies: ${name}`, () => {
      fc.assert(
        fc.property(reply(features), (generated) => {
          const there = second.decodeReply(second.encodeReply(generated, options));
          const back = first.decodeReply(first.encodeReply(unified(there), options));
          expect(replyFacts(back, features)).toEqual(replyFacts(generated, features));
        }),
        { numRuns: 60 },
      );
    });

    it(`of streams: ${name}`, () => {
      const streamed = new Set(features);
      if (!features.has('streamed-thinking')) streamed.delete('reply-thinking');
      fc.assert(
        fc.property(reply(streamed), (generated) => {
          const there = throughStream(second, eventsOf(generated));
          const back = throughStream(first, there.map(unifiedEvent));
          expect(replyFacts(replyOf(back), streamed)).toEqual(replyFacts(generated, streamed));
        }),
        { numRuns: 60 },
      );
    });
  }
});

/** The provider's own word for an ending is shown to callers; it says nothing to another provider. */
function unified(value: ChatReply | undefined): ChatReply {
  const choices = value?.choices.map(({ rawFinishReason: _, ...choice }) => choice);
  return { ...(value as ChatReply), choices: choices ?? [] };
}

function unifiedEvent(event: ChatStreamEvent): ChatStreamEvent {
  return event.type === 'finish' ? { ...event, raw: undefined } : event;
}

function throughStream(codec: ChatCodec, events: ChatStreamEvent[]): ChatStreamEvent[] {
  const encoder = codec.openEncoder(options);
  const bytes = Buffer.from(events.map((event) => encoder.encode(event)).join(''));
  const decoder = codec.openDecoder();
  const decoded = parseSseEvents(bytes).flatMap((event) => decoder.decode(event));
  return [...decoded, ...decoder.end()];
}

/** A request without what formats may put differently: where it was written, and how turns are cut. */
function requestFacts(value: ChatRequest, features: Features): object {
  const { messages, tools, responseFormat, reasoning, toolChoice, ...rest } = value;
  const format = { ...responseFormat };
  if ('name' in format && !features.has('schema-name')) delete format.name;
  // A name for models that think, where an effort is how much.
  const thinking = { ...reasoning };
  if (thinking.mode === 'adaptive') delete thinking.mode;
  // What the model shows unless it is told not to.
  if (thinking.display === 'summarized') delete thinking.display;
  const ids = idsOf(messages, features);
  return {
    ...rest,
    extensions: undefined,
    includeUsage: undefined,
    // What a model does when it is told nothing.
    toolChoice: toolChoice?.type === 'auto' ? undefined : toolChoice,
    model: features.has('model') ? rest.model : undefined,
    stream: features.has('model') ? rest.stream : undefined,
    format,
    thinking,
    tools: tools?.map(toolFacts),
    parts: messages.flatMap((message) =>
      message.parts.map((part) => ({
        role: message.role === 'developer' ? 'system' : message.role,
        ...(message.name === undefined ? {} : { name: message.name }),
        part: withoutDefaults(withId(part, ids)),
      })),
    ),
  };
}

/** A tool is not strict unless it says so. */
function toolFacts({ path: _, ...tool }: ChatTool): object {
  return 'strict' in tool && tool.strict === false ? { ...tool, strict: undefined } : tool;
}

/** The model chooses how closely to look at a picture unless it is told. */
function withoutDefaults(part: ChatPart): ChatPart {
  if (part.type === 'tool-result')
    return { ...part, content: part.content.map(withoutDefaults) as typeof part.content };
  return part.type === 'image' && part.detail === 'auto' ? { ...part, detail: undefined } : part;
}

/** Calls by their order, where a format has no ids for them. */
function idsOf(messages: ChatMessage[], features: Features): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  if (features.has('call-ids')) return ids;
  for (const message of messages)
    for (const part of message.parts)
      if (part.type === 'tool-call' && !ids.has(part.id)) ids.set(part.id, `#${ids.size}`);
  return ids;
}

function withId(part: ChatPart, ids: ReadonlyMap<string, string>): ChatPart {
  if (part.type === 'tool-call') return { ...part, id: ids.get(part.id) ?? part.id };
  if (part.type === 'tool-result')
    return { ...part, toolCallId: ids.get(part.toolCallId) ?? part.toolCallId };
  return part;
}

/** A reply without what was made up for it, and with what its format can express. */
function replyFacts(value: ChatReply | undefined, features: Features): object | undefined {
  const choice = value?.choices[0];
  if (value === undefined || choice === undefined) return undefined;
  const message: ChatMessage = { role: 'assistant', parts: choice.parts, path: '' };
  const ids = idsOf([message], features);
  return compact({
    id: features.has('reply-id') ? value.id : undefined,
    model: features.has('reply-model') ? value.model : undefined,
    created: features.has('created') ? value.createdSeconds : undefined,
    // One format has to name a tier where none was told.
    serviceTier:
      features.has('service-tier') && value.serviceTier !== 'default'
        ? value.serviceTier
        : undefined,
    usage: value.usage,
    parts: choice.parts.map((part) => withId(part, ids)),
    finishReason: choice.finishReason,
    stopSequence: features.has('stop-sequence') ? choice.stopSequence : undefined,
    logprobs: features.has('reply-logprobs') ? likelihoods(choice.logprobs) : undefined,
  });
}

/** Bytes and alternatives are not told by all who tell how likely a token was. */
function likelihoods(logprobs: JsonObject | undefined): unknown[] | undefined {
  return arrayOf(logprobs?.content)?.map((value) => {
    const entry = objectOf(value);
    return [entry?.token, entry?.logprob];
  });
}
