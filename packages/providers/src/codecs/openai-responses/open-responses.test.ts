import type {
  ChatChoice,
  ChatPart,
  ChatReply,
  ChatStreamEvent,
  JsonObject,
  JsonValue,
} from '@sluice/contracts';
import { noUsage } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { contextFor, fixtures, okHead } from '../../../test/fixtures.ts';
import { faultsOfEvent, faultsOfResponse } from '../../../test/open-responses.ts';
import type { ChatFormat, ProviderEntry } from '../../contract.ts';
import { parseSseEvents } from '../../framing/sse.ts';
import { findTranslation } from '../../translation/find-translation.ts';
import { anthropicMessages } from '../anthropic-messages/index.ts';
import { bedrockConverse } from '../bedrock-converse/index.ts';
import type { ChatCodec } from '../chat-codec.ts';
import { cohereChat } from '../cohere-chat/index.ts';
import { gemini } from '../gemini/index.ts';
import { openAiChat } from '../openai-chat/index.ts';

/** All but the format itself, whose bytes pass as they are. */
const formats: ChatCodec[] = [openAiChat, anthropicMessages, gemini, bedrockConverse, cohereChat];

/** A provider that speaks this format and nothing else. */
function speaking({ format }: ChatCodec): ProviderEntry {
  const chatComplete = { format: format as ChatFormat, path: '/x' };
  const entry = { id: 'x', name: 'X', baseUrl: 'https://x.example', source: 'none' };
  return { ...entry, auth: { type: 'none' }, endpoints: { chatComplete } };
}

const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'Tells the weather at a place',
  parameters: {
    type: 'object',
    properties: { location: { type: 'string' } },
    required: ['location'],
  },
};
const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const user = (content: JsonValue): JsonObject => ({ type: 'message', role: 'user', content });
const says: ChatPart = { type: 'text', text: 'Ahoy, Alice 1 2 3 4 5' };
const calls: ChatPart = {
  type: 'tool-call',
  id: 'call_1',
  name: 'get_weather',
  arguments: '{"location":"San Francisco"}',
};

/** The seven checks: what is asked, what the model answers, and what must have reached it. */
const suite: [name: string, body: JsonObject, answer: ChatPart, reaches: string[]][] = [
  ['basic text response', { input: [user('Say hello.')] }, says, ['Say hello.']],
  ['streaming response', { input: [user('Count.')], stream: true }, says, ['Count.']],
  [
    'system prompt',
    {
      input: [{ type: 'message', role: 'system', content: 'Be a pirate.' }, user('Say hello.')],
    },
    says,
    ['Be a pirate.', 'Say hello.'],
  ],
  ['tool calling', { input: [user('Weather?')], tools: [weather] }, calls, ['get_weather']],
  [
    'tool calling, streamed',
    { input: [user('Weather?')], tools: [weather], stream: true },
    calls,
    ['get_weather'],
  ],
  [
    'image input',
    {
      input: [
        user([
          { type: 'input_text', text: 'What is it?' },
          { type: 'input_image', image_url: pixel },
        ]),
      ],
    },
    says,
    ['What is it?', 'iVBORw0KGgo'],
  ],
  [
    'multi-turn conversation',
    {
      input: [
        user('I am Alice.'),
        { type: 'message', role: 'assistant', content: 'Hello Alice!' },
        user('Who am I?'),
      ],
    },
    says,
    ['I am Alice.', 'Hello Alice!', 'Who am I?'],
  ],
];

function replyOf(part: ChatPart): ChatReply {
  const finishReason = part.type === 'tool-call' ? 'tool-calls' : 'stop';
  const choices: ChatChoice[] = [{ index: 0, parts: [part], finishReason }];
  const usage = { ...noUsage, inputTokens: 9, outputTokens: 5 };
  const extensions = { format: 'none', fields: {} };
  return { id: 'r_1', model: 'm', createdSeconds: 1, choices, usage, extensions };
}

function eventsOf(part: ChatPart): ChatStreamEvent[] {
  const at = { choice: 0, block: 0 };
  const said: ChatStreamEvent[] =
    part.type === 'tool-call'
      ? [
          { type: 'tool-call-start', ...at, call: 0, id: part.id, name: part.name },
          { type: 'tool-call-delta', ...at, call: 0, arguments: part.arguments },
        ]
      : [
          { type: 'text-start', ...at },
          { type: 'text-delta', ...at, text: 'Ahoy' },
        ];
  const reason = part.type === 'tool-call' ? 'tool-calls' : 'stop';
  return [
    { type: 'reply-start', id: 'r_1', model: 'm', createdSeconds: 1 },
    ...said,
    { type: 'usage', usage: { ...noUsage, inputTokens: 9, outputTokens: 5 } },
    { type: 'finish', choice: 0, reason },
    { type: 'reply-end' },
  ];
}

/** The events that a caller of responses gets for these bytes of a provider's stream. */
function readEvents(codec: ChatCodec, request: JsonObject, bytes: Buffer): JsonObject[] {
  const provider = speaking(codec);
  const context = contextFor(provider, true, { model: 'm', request, stream: true });
  const reader = findTranslation(provider, 'createModelResponse').openStream(context, request);
  const out = Buffer.concat([reader.push(bytes), reader.end()]);
  return [...parseSseEvents(out)].map(({ data }) => JSON.parse(data));
}

for (const codec of formats)
  describe(`the compliance suite of Open Responses by way of ${codec.format}`, () => {
    const provider = speaking(codec);
    const translation = findTranslation(provider, 'createModelResponse');

    it.each(suite)('passes: %s', (_, asked, answer, reaches) => {
      const request: JsonObject = { model: 'm', ...asked };
      const context = contextFor(provider, true, { model: 'm', request });
      const sent = JSON.stringify(translation.encode(request, context).body);
      for (const words of reaches) expect(sent).toContain(words);
      const options = { provider: 'x', strict: true, nowMs: 1, requestedModel: 'm', request: {} };
      let response: JsonObject;
      if (request.stream === true) {
        const writer = codec.openEncoder(options);
        const told = eventsOf(answer).map((event) => writer.encode(event));
        const events = readEvents(codec, request, Buffer.from(told.join('')));
        expect(events.flatMap(faultsOfEvent)).toEqual([]);
        const types = events.map(({ type, item }) =>
          item === undefined ? type : `${type} ${(item as JsonObject).type}`,
        );
        expect(types).toEqual(
          expect.arrayContaining(
            answer.type === 'tool-call'
              ? [
                  'response.output_item.added function_call',
                  'response.function_call_arguments.delta',
                  'response.function_call_arguments.done',
                  'response.output_item.done function_call',
                ]
              : ['response.output_text.delta', 'response.output_text.done'],
          ),
        );
        response = events.at(-1)?.response as JsonObject;
      } else {
        const bytes = Buffer.from(JSON.stringify(codec.encodeReply(replyOf(answer), options)));
        response = JSON.parse(String(translation.decode(bytes, context, okHead).body));
      }
      expect(faultsOfResponse(response)).toEqual([]);
      expect(response.status).toBe('completed');
      const types = (response.output as JsonObject[]).map(({ type }) => type);
      expect(types).toContain(answer.type === 'tool-call' ? 'function_call' : 'message');
    });

    it('holds for every recorded answer and stream', () => {
      const request = { model: 'm', input: 'x' };
      for (const fixture of fixtures(codec.format, 'response')) {
        const context = contextFor(provider, true, { model: 'm', request });
        const decoded = translation.decode(fixture.bytes, context, okHead);
        const response = JSON.parse(String(decoded.body));
        const faults = faultsOfResponse(response).filter((fault) => !fault.includes(drawn));
        expect(faults, fixture.name).toEqual([]);
      }
      for (const fixture of fixtures(codec.format, 'stream')) {
        const events = readEvents(codec, request, fixture.bytes);
        const faults = events.flatMap(faultsOfEvent).filter((fault) => !fault.includes(drawn));
        expect(faults, fixture.name).toEqual([]);
      }
    });
  });

/** Pictures are items of OpenAI's own format, which the suite does not know. */
const drawn = 'image_generation_call';
