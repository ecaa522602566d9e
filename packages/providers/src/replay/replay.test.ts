import type { JsonObject, JsonValue, StreamableFormat } from '@sluice/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fixtures, pretty } from '../../test/fixtures.ts';
import { assembleStream } from '../assemble/assemble-stream.ts';
import { parseSseEvents } from '../framing/sse.ts';
import { arrayOf, objectOf, parseObject } from '../json/json-access.ts';
import { replayPieceMax, textPieces } from './pieces.ts';
import { replayAsStream } from './replay-as-stream.ts';

const streamed = ['openai-chat', 'openai-responses', 'anthropic-messages'] as const;

function replay(format: StreamableFormat, reply: JsonObject, includeUsage = false): Buffer {
  return Buffer.concat(replayAsStream(format, reply, { includeUsage }) ?? []);
}

function chunksOf(stream: Buffer): JsonObject[] {
  return parseSseEvents(stream)
    .map(({ data }) => parseObject(data))
    .filter((chunk) => chunk !== undefined);
}

const text = fc.string({ unit: 'binary', maxLength: 1400, size: 'max' });
const shortText = fc.string({ unit: 'grapheme', maxLength: 12 });
/** What JSON can carry: generated values may hold -0, which it cannot. */
const json = fc
  .jsonValue({ maxDepth: 2 })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);
const input = fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), json, { maxKeys: 4 });
const count = fc.nat(100_000);

function withKeys(
  required: Record<string, fc.Arbitrary<unknown>>,
  optional: Record<string, fc.Arbitrary<unknown>> = {},
): fc.Arbitrary<JsonObject> {
  return fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) }) as never;
}

const toolCall = withKeys(
  {
    id: shortText,
    type: fc.constant('function'),
    function: withKeys({ name: shortText, arguments: text }),
  },
  { extra_content: input },
);
const probabilities = fc.option(
  withKeys({
    content: fc.array(withKeys({ token: shortText, logprob: fc.constant(-0.5) }), { maxLength: 3 }),
    refusal: fc.constant(null),
  }),
);
const openAiHead = {
  id: fc.constant('chatcmpl-1'),
  created: fc.constant(1_741_569_952),
  model: fc.constant('gpt-4.1'),
};
const usage = withKeys({ prompt_tokens: count, completion_tokens: count, total_tokens: count });
const inOrder = (choices: JsonObject[]): JsonObject[] =>
  choices.map((choice, index) => ({ ...choice, index }));

const generated: Record<StreamableFormat, fc.Arbitrary<JsonObject>> = {
  'openai-chat': withKeys(
    {
      ...openAiHead,
      object: fc.constant('chat.completion'),
      choices: fc
        .array(
          withKeys(
            {
              message: withKeys(
                { role: fc.constant('assistant'), content: fc.option(text) },
                {
                  refusal: fc.option(text.filter((value) => value !== '')),
                  reasoning_content: text.filter((value) => value !== ''),
                  tool_calls: fc.array(toolCall, { minLength: 1, maxLength: 3 }),
                  annotations: fc.array(input, { minLength: 1, maxLength: 2 }),
                },
              ),
              logprobs: probabilities,
              finish_reason: fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter'),
            },
            { stop_reason: fc.constantFrom('END', 7) },
          ),
          { minLength: 1, maxLength: 3 },
        )
        .map(inOrder),
      usage,
    },
    { system_fingerprint: fc.constant('fp_1'), service_tier: fc.constant('default'), other: input },
  ),
  'openai-completions': withKeys(
    {
      ...openAiHead,
      object: fc.constant('text_completion'),
      choices: fc
        .array(
          withKeys({
            text,
            logprobs: fc.option(withKeys({ tokens: fc.array(shortText, { maxLength: 3 }) })),
            finish_reason: fc.constantFrom('stop', 'length'),
          }),
          { minLength: 1, maxLength: 3 },
        )
        .map(inOrder),
      usage,
    },
    { system_fingerprint: fc.constant('fp_1') },
  ),
  'openai-responses': withKeys(
    {
      id: fc.constant('resp_1'),
      object: fc.constant('response'),
      created_at: fc.constant(1_741_569_952),
      status: fc.constantFrom('completed', 'incomplete'),
      output: fc.array(
        fc.oneof(
          withKeys({
            id: shortText,
            type: fc.constant('message'),
            content: fc.array(
              fc.oneof(
                withKeys(
                  { type: fc.constant('output_text'), text, annotations: fc.array(input) },
                  { logprobs: fc.array(input) },
                ),
                withKeys({ type: fc.constant('refusal'), refusal: text }),
              ),
            ),
          }),
          withKeys({
            id: shortText,
            type: fc.constant('reasoning'),
            summary: fc.array(withKeys({ type: fc.constant('summary_text'), text })),
            encrypted_content: shortText,
          }),
          withKeys({
            id: shortText,
            type: fc.constant('function_call'),
            call_id: shortText,
            name: shortText,
            arguments: text,
          }),
          withKeys({ id: shortText, type: fc.constant('something_new'), value: json }),
        ),
        { maxLength: 4 },
      ),
      usage: withKeys({ input_tokens: count, output_tokens: count, total_tokens: count }),
    },
    { instructions: fc.option(shortText), tools: fc.array(input) },
  ),
  'anthropic-messages': withKeys(
    {
      id: fc.constant('msg_1'),
      type: fc.constant('message'),
      role: fc.constant('assistant'),
      model: fc.constant('claude'),
      content: fc.array(
        fc.oneof(
          withKeys({ type: fc.constant('text'), text }, { citations: fc.array(input) }),
          withKeys({
            type: fc.constant('text'),
            text: fc.constant('cited'),
            citations: fc.constant(null),
          }),
          withKeys({ type: fc.constant('thinking'), thinking: text, signature: shortText }),
          withKeys({ type: fc.constant('redacted_thinking'), data: shortText }),
          withKeys({ type: fc.constant('tool_use'), id: shortText, name: shortText, input }),
          withKeys({ type: fc.constant('server_tool_use'), id: shortText, name: shortText, input }),
          withKeys({ type: fc.constant('something_new'), value: json }),
        ),
        { maxLength: 5 },
      ),
      stop_reason: fc.constantFrom('end_turn', 'tool_use', 'max_tokens', 'stop_sequence'),
      stop_sequence: fc.option(shortText),
      usage: withKeys(
        { input_tokens: count, output_tokens: count },
        { cache_read_input_tokens: fc.option(count), service_tier: fc.constant('standard') },
      ),
    },
    { container: fc.option(input), context_management: input },
  ),
};

describe('replayAsStream and assembleStream', () => {
  for (const format of Object.keys(generated) as StreamableFormat[]) {
    it(`are inverse: a ${format} reply comes back whole`, () => {
      fc.assert(
        fc.property(generated[format], fc.boolean(), (reply, includeUsage) => {
          expect(assembleStream(format, replay(format, reply, includeUsage))).toEqual(reply);
        }),
        { numRuns: 150 },
      );
    });

    it(`no event of a ${format} replay says more than a piece, or half a character`, () => {
      fc.assert(
        fc.property(generated[format], (reply) => {
          for (const chunk of chunksOf(replay(format, reply))) {
            const choice = (chunk.choices as JsonObject[] | undefined)?.[0];
            const told = choice?.delta ?? chunk.delta ?? choice ?? {};
            const delta = (typeof told === 'string' ? { text: told } : told) as JsonObject;
            for (const field of ['content', 'refusal', 'reasoning_content', 'text', 'thinking']) {
              const piece = delta[field];
              if (typeof piece !== 'string') continue;
              expect(piece.length).toBeLessThanOrEqual(replayPieceMax);
              expect(piece.isWellFormed()).toBe(true);
            }
          }
        }),
        { numRuns: 60 },
      );
    });
  }

  for (const format of streamed) {
    for (const fixture of fixtures(format, 'response'))
      it(`tells ${format} ${fixture.name} as a stream`, () =>
        expect(replay(format, fixture.json()).toString()).toMatchFileSnapshot(
          fixture.golden('replay.txt'),
        ));

    for (const fixture of fixtures(format, 'stream'))
      it(`puts ${format} ${fixture.name} together, or says that it cannot`, () =>
        expect(pretty(assembleStream(format, fixture.bytes) ?? null)).toMatchFileSnapshot(
          fixture.golden('assembled.json'),
        ));
  }
});

describe('replayAsStream', () => {
  const completion: JsonObject = {
    id: 'cmpl-1',
    object: 'text_completion',
    created: 1,
    model: 'm',
    choices: [{ text: 'Hello', index: 0, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  };
  const head = '"object":"text_completion","id":"cmpl-1","created":1,"model":"m"';
  const usage = '"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}';

  it('tells a completion as text, the end with the usage, and [DONE]', () => {
    expect(replay('openai-completions', completion).toString().split('\n\n')).toEqual([
      `data: {${head},"choices":[{"text":"Hello","index":0,"logprobs":null,"finish_reason":null}]}`,
      `data: {${head},"choices":[{"text":"","index":0,"finish_reason":"stop","logprobs":null}],${usage}}`,
      'data: [DONE]',
      '',
    ]);
  });

  it('tells the usage in a chunk of its own to those who asked, and to nobody twice', () => {
    const asked = chunksOf(replay('openai-completions', completion, true));
    expect(asked.map((chunk) => chunk.usage)).toEqual([null, null, completion.usage]);
    expect(asked.at(-1)?.choices).toEqual([]);
    const others = chunksOf(replay('openai-completions', completion, false));
    expect(others.map((chunk) => chunk.usage)).toEqual([undefined, completion.usage]);
  });

  it('tells a tool call in two chunks: who is called, then with what', () => {
    const calls = [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }];
    const choice = { index: 0, message: { role: 'assistant', content: null, tool_calls: calls } };
    const deltas = chunksOf(replay('openai-chat', { choices: [choice] })).map(
      (chunk) => objectOf(objectOf(arrayOf(chunk.choices)?.[0])?.delta)?.tool_calls,
    );
    expect(deltas).toEqual([
      undefined,
      [{ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '' } }],
      [{ index: 0, function: { arguments: '{"a":1}' } }],
      undefined,
    ]);
  });

  it('begins a thought as one that goes on, where it says how far it is', () => {
    const summary = [{ type: 'summary_text', text: 'Hm.' }];
    const item = { id: 'rs_1', type: 'reasoning', summary };
    const output: JsonObject[] = [{ ...item, status: 'completed' }, item];
    const events = chunksOf(
      replay('openai-responses', { object: 'response', status: 'completed', output }),
    );
    const told = events.flatMap((event) =>
      event.item === undefined ? [] : [objectOf(event.item)?.status],
    );
    expect(told).toEqual(['in_progress', 'completed', undefined, undefined]);
  });

  it('shows non-strict callers the blocks of the answer, and gets them back', () => {
    const message: JsonObject = {
      role: 'assistant',
      content: 'ab',
      content_blocks: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'redacted_thinking', data: 'x' },
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b', citations: [{ url: 'u' }] },
      ],
    };
    const reply: JsonObject = {
      id: 'i',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message, logprobs: null, finish_reason: 'end_turn' }],
      usage: { prompt_tokens: 1 },
    };
    expect(assembleStream('openai-chat', replay('openai-chat', reply))).toEqual(reply);
  });

  it('has nothing to tell of a JSON that is not the format’s reply', () => {
    for (const format of Object.keys(generated) as StreamableFormat[])
      expect(replayAsStream(format, { error: 'x' }, { includeUsage: true })).toBeUndefined();
  });
});

describe('assembleStream', () => {
  const chunk = (body: object) => `data: ${JSON.stringify({ id: 'i', model: 'm', ...body })}\n\n`;
  const delta = (value: object, index = 0) => chunk({ choices: [{ index, delta: value }] });
  const finish = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  const end = `${finish}${chunk({ choices: [], usage: { prompt_tokens: 1 } })}data: [DONE]\n\n`;
  const assemble = (stream: string) => assembleStream('openai-chat', Buffer.from(stream));
  const message = (reply: JsonObject | undefined) =>
    (reply?.choices as JsonObject[] | undefined)?.[0]?.message;

  it('refuses what it would have to guess', () => {
    const guesses = {
      'a field in fragments': delta({ audio: { data: 'a' } }) + delta({ audio: { data: 'b' } }),
      'two calls of one number':
        delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f' } }] }) +
        delta({ tool_calls: [{ index: 0, id: 'b', function: { name: 'g' } }] }),
      'a field that changes': chunk({ choices: [], x: 1 }) + chunk({ choices: [], x: 2 }),
      'an event that is not a chunk': chunk({ hook_results: {} }),
      'an error': chunk({ choices: [], error: { message: 'no' } }),
      'content in parts': delta({ content: [{ type: 'text', text: 'a' }] }),
      'something that is not JSON': 'data: {\n\n',
      'a choice without an end': delta({ content: 'b' }, 1),
    };
    for (const [what, events] of Object.entries(guesses))
      expect(assemble(delta({ content: 'a' }) + events + end), what).toBeUndefined();
    expect(message(assemble(delta({ content: 'a' }) + end))).toEqual({
      role: 'assistant',
      content: 'a',
    });
  });

  it('refuses a chat stream that did not tell its usage: the JSON would', () => {
    expect(assemble(`${delta({ content: 'a' })}${finish}data: [DONE]\n\n`)).toBeUndefined();
  });

  it('reads past padding, filler chunks and repeated names', () => {
    const call = (json: string) =>
      delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: json } }] });
    const filler = chunk({ id: '', model: '', choices: [], prompt_filter_results: [1] });
    const padded = chunk({ obfuscation: 'xx', choices: [{ index: 0, delta: { content: null } }] });
    const more = chunk({ obfuscation: 'y', choices: [{ index: 0, delta: {} }] });
    const reply = assemble(`: hi\n\n${filler}${padded}${more}${call('{"a":')}${call('1}')}${end}`);
    expect(reply).toMatchObject({ id: 'i', model: 'm', prompt_filter_results: [1] });
    expect(message(reply)).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{"a":1}' } }],
    });
  });

  it('refuses a response that failed, is cut, or has something beside it', () => {
    const response: JsonObject = { id: 'r', status: 'completed', output: [] };
    const whole = replay('openai-responses', response).toString();
    const assembled = (stream: string) => assembleStream('openai-responses', Buffer.from(stream));
    expect(assembled(whole)).toEqual(response);
    expect(assembled(`${whole}data: [DONE]\n\n`)).toEqual(response);
    expect(assembled(whole.slice(0, whole.lastIndexOf('event:')))).toBeUndefined();
    expect(assembled(`${whole}data: {"hook_results":{}}\n\n`)).toBeUndefined();
    expect(assembled(`data: {"hook_results":{}}\n\n${whole}`)).toBeUndefined();
    const failed = whole.replaceAll('response.completed', 'response.failed');
    expect(assembled(failed)).toBeUndefined();
  });

  it('tells a response with all events of its parts', () => {
    const reply: JsonObject = {
      id: 'r',
      status: 'incomplete',
      output: [
        {
          id: 'm',
          type: 'message',
          content: [{ type: 'output_text', text: 'a', annotations: [1] }],
        },
        { id: 'f', type: 'function_call', call_id: 'c', name: 'n', arguments: '{}' },
      ],
    };
    const events = parseSseEvents(replay('openai-responses', reply));
    expect(events.map(({ name }) => name.slice('response.'.length))).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.annotation.added',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'incomplete',
    ]);
    for (const status of ['failed', 'in_progress', 'queued'])
      expect(
        replayAsStream('openai-responses', { ...reply, status }, { includeUsage: true }),
      ).toBeUndefined();
  });

  it('refuses a message that is cut, unordered, or has an unknown event', () => {
    const whole = parseSseEvents(
      replay('anthropic-messages', {
        type: 'message',
        content: [{ type: 'tool_use', id: 't', name: 'n', input: { a: 1 } }],
        stop_reason: 'tool_use',
        stop_sequence: null,
      }),
    ).map(({ data }) => `data: ${data}\n\n`);
    const assembleEvents = (events: string[]) =>
      assembleStream('anthropic-messages', Buffer.from(events.join('')));
    expect(assembleEvents(whole)).toBeDefined();
    expect(assembleEvents([...whole, 'data: {"type":"something_new"}\n\n'])).toBeUndefined();
    for (let missing = 0; missing < whole.length; missing++) {
      // That a piece of input is missing cannot be seen: the tool may take none.
      const isOptional = missing === 2;
      const cut = assembleEvents(whole.filter((_, index) => index !== missing));
      expect(cut === undefined, whole[missing]).toBe(!isOptional);
    }
    const half = whole.map((event) => event.replace('{\\"a\\":1}', '{\\"a\\":'));
    expect(assembleEvents(half)).toBeUndefined();
  });
});

describe('whatever a provider says', () => {
  const words = [
    'choices delta index message content tool_calls function function_call arguments custom',
    'content_blocks text citation thinking signature logprobs usage finish_reason type __proto__',
    'message_start content_block_start content_block content_block_delta text_delta constructor',
    'input_json_delta partial_json content_block_stop message_delta message_stop citations_delta',
    'response response.completed output reasoning summary output_text annotations refusal status',
  ];
  const word = fc.constantFrom(...words.join(' ').split(' '));
  const { anything } = fc.letrec<{ anything: JsonValue }>((tie) => ({
    anything: fc.oneof(
      { maxDepth: 6 },
      word,
      fc.constantFrom<JsonValue[]>(null, '', 0, -1, 1.5, 1e9, true),
      fc.array(tie('anything'), { maxLength: 3 }),
      fc.dictionary(word, tie('anything'), { maxKeys: 5, noNullPrototype: true }),
    ),
  }));

  it('telling it as a stream and putting it together never throws', () => {
    const body = fc.dictionary(word, anything, { noNullPrototype: true });
    const some = fc.array(body, { maxLength: 6 });
    fc.assert(
      fc.property(body, some, fc.uint8Array(), (reply, events, garbage) => {
        const stream = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
        for (const format of Object.keys(generated) as StreamableFormat[]) {
          assembleStream(format, Buffer.from(stream));
          assembleStream(format, Buffer.from(garbage));
          const response = { status: 'completed', ...reply, output: events };
          for (const likely of [reply, response, { type: 'message', ...reply, content: events }])
            replayAsStream(format, { ...likely, choices: events }, { includeUsage: true });
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('textPieces', () => {
  it('never cuts a surrogate pair', () => {
    expect(textPieces(`${'a'.repeat(replayPieceMax - 1)}👋b`)).toEqual([
      'a'.repeat(replayPieceMax - 1),
      '👋b',
    ]);
  });
});
