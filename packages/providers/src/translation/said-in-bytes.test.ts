import type { Endpoint, JsonObject } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { findProvider } from '../catalog.ts';
import type { ReplyFacts } from '../contract.ts';
import { findTranslation } from './find-translation.ts';

const words = 'It is a lock that nobody holds for long, and somebody waits for it. '.split(
  /(?<= )/,
);
const text = words.join('');

const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'gpt-5.1',
  system_fingerprint: 'fp_0123456789',
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
});
const called = (call: JsonObject) => chunk({ tool_calls: [{ index: 0, ...call }] });
const response = { id: 'resp_1', object: 'response', status: 'in_progress', output: [] };
const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [] };
const part = { type: 'output_text', text: '', annotations: [] };
const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [] };

/** Streams that tell no usage, of the same words. */
const streams: Readonly<Record<string, { endpoint: Endpoint; events: JsonObject[] }>> = {
  'a chat': {
    endpoint: 'chatComplete',
    events: [
      chunk({ role: 'assistant', content: '' }),
      ...words.map((content) => chunk({ content })),
      chunk({}, 'stop'),
    ],
  },
  'a chat that says who speaks with its first word': {
    endpoint: 'chatComplete',
    events: [
      ...words.map((content, at) => chunk(at === 0 ? { role: 'assistant', content } : { content })),
      chunk({}, 'stop'),
    ],
  },
  'arguments of a tool': {
    endpoint: 'chatComplete',
    events: [
      called({ id: 'call_0123456789', type: 'function', function: { name: 'f', arguments: '' } }),
      ...words.map((word) => called({ function: { arguments: word } })),
      chunk({}, 'tool_calls'),
    ],
  },
  'a response, which says all of it four times': {
    endpoint: 'createModelResponse',
    events: [
      { type: 'response.created', response },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.content_part.added', ...at, part },
      ...words.map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
      { type: 'response.output_text.done', ...at, text },
      { type: 'response.content_part.done', ...at, part: { ...part, text } },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { ...item, content: [{ ...part, text }] },
      },
      { type: 'response.completed', response: { ...response, status: 'completed' } },
    ],
  },
  'a message that counts what went in alone': {
    endpoint: 'messages',
    events: [
      {
        type: 'message_start',
        message: { ...message, usage: { input_tokens: 9, output_tokens: 1 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...words.map((word) => ({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: word },
      })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    ],
  },
};

const thought = 'Who holds “it”?\nNobody – für lange.';
const thoughts = thought.split(/(?<= )/);
const reasoning = { item_id: 'rs_0123456789abcdef', output_index: 0, summary_index: 0 };
const blockDelta = (index: number, delta: JsonObject): JsonObject => ({
  type: 'content_block_delta',
  index,
  delta,
});
const soFar = (at: number) => words.slice(0, at + 1).join('');

/** Streams whose events have different things around what they say. `silent`: events that say nothing and count one, `[DONE]` among them. */
const mixed: Readonly<
  Record<string, { endpoint: Endpoint; events: JsonObject[]; silent: number }>
> = {
  'a response that thinks first, and hides how long its words are': {
    endpoint: 'createModelResponse',
    silent: 0,
    events: [
      { type: 'response.created', response },
      ...thoughts.map((delta, sequence_number) => ({
        type: 'response.reasoning_summary_text.delta',
        sequence_number,
        ...reasoning,
        delta,
        obfuscation: 'x'.repeat(16 - delta.length),
      })),
      ...words.map((delta, sequence_number) => ({
        type: 'response.output_text.delta',
        sequence_number,
        ...at,
        delta,
        logprobs: [{ token: delta, logprob: -0.5, bytes: [116], top_logprobs: [] }],
        obfuscation: 'x'.repeat(16 - delta.length),
      })),
      { type: 'response.completed', response: { ...response, status: 'completed' } },
    ],
  },
  'a chat that thinks first, and hides how long its words are': {
    endpoint: 'chatComplete',
    silent: 2,
    events: [
      ...thoughts.map((reasoning_content) => chunk({ reasoning_content })),
      ...words.map((content) => ({
        ...chunk({ content }),
        obfuscation: 'x'.repeat(16 - content.length),
      })),
      chunk({}, 'stop'),
    ],
  },
  'a chat that tells each thought twice': {
    endpoint: 'chatComplete',
    silent: 2,
    events: [
      ...thoughts.map((text) =>
        chunk({
          content: '',
          reasoning: text,
          reasoning_details: [{ type: 'reasoning.text', text, index: 0 }],
        }),
      ),
      ...words.map((content) => chunk({ content, reasoning: null })),
      chunk({}, 'stop'),
    ],
  },
  'a chat that tells all it has said with each word, and its tools': {
    endpoint: 'chatComplete',
    silent: 3,
    events: [
      ...words.map((content, at) => {
        const { choices, ...rest } = chunk({ role: 'assistant', content });
        const [choice] = choices as JsonObject[];
        const message = { role: 'assistant', content: soFar(at) };
        return { ...rest, choices: [{ index: 0, message, ...choice }] };
      }),
      called({ id: 'call_0123456789', type: 'function', function: { name: 'f', arguments: '' } }),
      ...thoughts.map((piece) => called({ function: { arguments: piece } })),
      chunk({}, 'tool_calls'),
    ],
  },
  'a message that thinks, signs and cites': {
    endpoint: 'messages',
    silent: 2,
    events: [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      ...thoughts.map((thinking) => blockDelta(0, { type: 'thinking_delta', thinking })),
      blockDelta(0, { type: 'signature_delta', signature: 'c2ln'.repeat(200) }),
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      ...words.map((text) => blockDelta(1, { type: 'text_delta', text })),
      blockDelta(1, {
        type: 'citations_delta',
        citation: {
          type: 'web_search_result_location',
          url: 'https://example.com/locks',
          title: 'Locks',
          cited_text: 'It is a lock that nobody holds for long.',
          encrypted_index: 'c2ln'.repeat(50),
        },
      }),
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    ],
  },
};

function factsOf(endpoint: Endpoint, events: readonly JsonObject[]): ReplyFacts {
  const provider = findProvider(endpoint === 'messages' ? 'anthropic' : 'openai')!;
  const setting = () => undefined;
  const model = 'm';
  const translation = findTranslation(provider, endpoint, { model, stream: true, setting });
  const context = {
    provider,
    model,
    stream: true,
    setting,
    request: { model },
    strictOpenAiCompliance: true,
    nowMs: 0,
  };
  const reader = translation.openStream(context, context.request);
  for (const event of events) {
    const name = typeof event.type === 'string' ? `event: ${event.type}\n` : '';
    reader.push(Buffer.from(`${name}data: ${JSON.stringify(event)}\n\n`));
  }
  if (endpoint === 'chatComplete') reader.push(Buffer.from('data: [DONE]\n\n'));
  reader.end();
  expect(reader.phase).toBe('complete');
  return reader.facts;
}

describe('what a stream says that does not count it', () => {
  it.each(Object.entries(streams))('is told from its bytes: %s', (_what, { endpoint, events }) => {
    const { saidBytes = 0 } = factsOf(endpoint, events);
    // An event that says nothing counts one.
    expect(saidBytes).toBeGreaterThanOrEqual(text.length);
    expect(saidBytes).toBeLessThanOrEqual(text.length + events.length - words.length + 30);
  });

  it.each(Object.entries(mixed))(
    'is as long as what it says, whatever stands around that: %s',
    (_what, { endpoint, events, silent }) => {
      const { saidBytes } = factsOf(endpoint, events);
      expect(saidBytes).toBe(Buffer.byteLength(text) + Buffer.byteLength(thought) + silent);
    },
  );

  it('is told of a message by its deltas, whatever stands between them', () => {
    const delta = (text: string) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text },
    });
    const { saidBytes } = factsOf('messages', [
      { type: 'message_start', message: { id: 'm', model: 'm', content: [] } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'ping' },
      delta('Hi'),
      delta(' there, and welcome.'),
      { type: 'content_block_stop', index: 0 },
      {
        type: 'content_block_start',
        index: 1,
        content_block: {
          type: 'tool_use',
          id: 'toolu_01A09q90qw90lq917835lq9',
          name: 'a',
          input: {},
        },
      },
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null } },
      { type: 'message_stop' },
    ]);
    expect(saidBytes).toBe('Hi there, and welcome.'.length);
  });

  it('is told of no stream that counts it', () => {
    const { endpoint, events } = streams['a chat']!;
    const usage = { prompt_tokens: 9, completion_tokens: 15 };
    const counted = [...events, { choices: [], usage }];
    expect(factsOf(endpoint, counted).saidBytes).toBeUndefined();
    const { events: begun } = streams['a message that counts what went in alone']!;
    const ended = begun.map((event) =>
      event.type === 'message_delta' ? { ...event, usage: { output_tokens: 15 } } : event,
    );
    expect(factsOf('messages', ended)).toMatchObject({ usage: { inputTokens: 9 } });
    expect(factsOf('messages', ended).saidBytes).toBeUndefined();
  });
});
