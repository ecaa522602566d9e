import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextFor, fixtures, okHead, play } from '../../../test/fixtures.ts';
import { findProvider } from '../../catalog.ts';
import type { JsonObject } from '../../contract.ts';
import { ChatTranslation } from '../../translation/chat-translation.ts';
import { openAiChat } from '../openai-chat/index.ts';
import { gemini } from './index.ts';

const google = findProvider('google')!;
const openai = findProvider('openai')!;
const model = 'gemini-2.5-flash';

const text = fc.string({ minLength: 1, unit: 'grapheme' });
const base64 = fc
  .uint8Array({ minLength: 1, maxLength: 12 })
  .map((bytes) => Buffer.from(bytes).toString('base64'));
const name = fc.stringMatching(/^[a-z][a-z_]{0,10}x$/);
const args = fc
  .dictionary(name, fc.jsonValue({ maxDepth: 2 }))
  .map((value) => JSON.stringify(value));

const part = fc.oneof(
  text.map((value) => ({ type: 'text', text: value })),
  base64.map((data) => ({
    type: 'image_url',
    image_url: { url: `data:image/png;base64,${data}` },
  })),
  fc
    .constantFrom('https://a.example/b.png', 'gs://bucket/c.webp')
    .map((url) => ({ type: 'image_url', image_url: { url } })),
  fc.tuple(fc.constantFrom('mp3', 'wav', 'flac', 'pcm16'), base64).map(([format, data]) => ({
    type: 'input_audio',
    input_audio: { format, data },
  })),
  base64.map((data) => ({
    type: 'file',
    file: { file_data: `data:application/pdf;base64,${data}` },
  })),
  fc.constant({ type: 'file', file: { file_id: 'files/abc' } }),
);

const user = fc
  .oneof(text, fc.array(part, { minLength: 2, maxLength: 4 }))
  .map((content) => [{ role: 'user', content }]);

/** An answer, or a turn of parallel calls with their results and the answer after them. */
const assistant = fc.oneof(
  text.map((content) => [{ role: 'assistant', content }]),
  fc
    .tuple(
      fc.option(text),
      fc.array(fc.tuple(name, args, fc.string()), { minLength: 1, maxLength: 3 }),
      text,
    )
    .map(([content, calls, answer]) => [
      {
        role: 'assistant',
        content,
        tool_calls: calls.map(([fn, json]) => ({
          type: 'function',
          function: { name: fn, arguments: json },
        })),
      },
      ...calls.map(([, , result]) => ({ role: 'tool', content: result })),
      { role: 'assistant', content: answer },
    ]),
);

/** Calls get ids that occur once, and results those of their calls. */
function withIds(messages: JsonObject[]): JsonObject[] {
  let made = 0;
  let open: string[] = [];
  return messages.map((message) => {
    if (message.role === 'tool')
      return { role: 'tool', tool_call_id: open.shift() ?? '', content: message.content ?? '' };
    if (!Array.isArray(message.tool_calls)) return message;
    const calls = message.tool_calls.map((call) => ({
      id: `call_${made++}`,
      ...(call as JsonObject),
    }));
    open = calls.map(({ id }) => id);
    return { ...message, tool_calls: calls };
  });
}

const messages = fc
  .tuple(fc.option(text), fc.array(fc.tuple(user, assistant), { maxLength: 3 }), user)
  .map(([system, turns, last]) =>
    withIds([
      ...(system === null ? [] : [{ role: 'system', content: system }]),
      ...turns.flat(2),
      ...last,
    ] as JsonObject[]),
  );

const tools = fc.uniqueArray(name, { minLength: 1, maxLength: 3 }).map((names) =>
  names.map((fn) => ({
    type: 'function',
    function: {
      name: fn,
      description: `Does ${fn}`,
      parameters: {
        type: 'object',
        properties: { a: { type: ['string', 'null'] } },
        additionalProperties: false,
      },
    },
  })),
);

const fields = fc.record(
  {
    temperature: fc.constantFrom(0, 0.5, 2),
    top_p: fc.constantFrom(0, 0.9),
    max_tokens: fc.nat(),
    stop: fc.array(text, { minLength: 1, maxLength: 4 }),
    n: fc.integer({ min: 1, max: 8 }),
    seed: fc.nat(),
    presence_penalty: fc.constantFrom(-1, 0.5),
    frequency_penalty: fc.constantFrom(-1, 0.5),
    logprobs: fc.boolean(),
    top_logprobs: fc.integer({ min: 0, max: 20 }),
    reasoning_effort: fc.constantFrom('none', 'low', 'medium', 'high'),
    response_format: fc.constantFrom<JsonObject>(
      { type: 'text' },
      { type: 'json_object' },
      {
        type: 'json_schema',
        json_schema: {
          name: 'response',
          schema: {
            type: 'object',
            properties: { a: { $ref: '#/$defs/b' } },
            $defs: { b: { type: 'string' } },
          },
        },
      },
    ),
  },
  { requiredKeys: [] },
);

const toolFields = fc.option(
  fc.tuple(tools, fc.constantFrom('auto', 'none', 'required', 'one')).map(([list, choice]) => ({
    tools: list,
    tool_choice:
      choice === 'one'
        ? { type: 'function', function: { name: list[0]?.function.name ?? '' } }
        : choice,
  })),
  { nil: {} },
);

describe('openai-chat → gemini → openai-chat', () => {
  it('keeps every field of a request that both can express', () => {
    fc.assert(
      fc.property(messages, fields, toolFields, (list, more, calling) => {
        const body = { model: model, messages: list, ...more, ...calling } as unknown as JsonObject;
        const first = openAiChat.decodeRequest(body);
        const there = gemini.encodeRequest(
          first.request,
          contextFor(google, true, { model: model }),
        );
        expect([...first.dropped, ...there.dropped]).toEqual([]);
        const wire = JSON.parse(JSON.stringify(there.body));
        const second = gemini.decodeRequest({ ...wire, model: model });
        const back = openAiChat.encodeRequest(second.request, contextFor(openai));
        expect([...second.dropped, ...back.dropped]).toEqual([]);
        const { max_completion_tokens, ...rest } = back.body;
        const again =
          max_completion_tokens === undefined
            ? rest
            : { ...rest, max_tokens: max_completion_tokens };
        // Chat wants a name for a file that has none.
        const named = JSON.stringify(again, (key, value) =>
          key === 'filename' && value === 'document.pdf' ? undefined : value,
        );
        expect(JSON.parse(named)).toEqual(body);
      }),
      { numRuns: 400 },
    );
  });

  const entry = { format: 'gemini', path: '/' } as const;
  const asGemini = new ChatTranslation(gemini, openAiChat, entry);
  const fromGemini = new ChatTranslation(openAiChat, gemini, entry);
  const context = contextFor(openai);

  it('keeps text, calls, the reason to finish and the counts of a reply', () => {
    const call = fc
      .tuple(name, args)
      .map(([fn, json]) => ({ type: 'function', function: { name: fn, arguments: json } }));
    fc.assert(
      fc.property(
        text,
        fc.array(call, { maxLength: 3 }),
        fc.constantFrom('length', 'content_filter', 'stop'),
        fc.nat(1000),
        (content, calls, reason, tokens) => {
          const message: JsonObject = { role: 'assistant', content, refusal: null };
          if (calls.length > 0)
            message.tool_calls = calls.map((one, index) => ({ id: `call_${index}`, ...one }));
          const finish = calls.length > 0 && reason === 'stop' ? 'tool_calls' : reason;
          const usage = {
            prompt_tokens: tokens + 9,
            completion_tokens: tokens,
            total_tokens: tokens * 2 + 9,
            prompt_tokens_details: { cached_tokens: 4, audio_tokens: 5 },
            completion_tokens_details: { reasoning_tokens: Math.floor(tokens / 2) },
            cache_read_input_tokens: 4,
            cache_creation_input_tokens: 0,
          };
          const reply = {
            id: 'chatcmpl-1',
            object: 'chat.completion',
            created: 1_763_000_000,
            model: 'm',
            provider: 'openai',
            choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
            usage,
          };
          const there = asGemini.decode(Buffer.from(JSON.stringify(reply)), context, okHead);
          const back = fromGemini.decode(there.body as Buffer, context, okHead);
          expect(JSON.parse(String(back.body))).toEqual(reply);
        },
      ),
      { numRuns: 200 },
    );
  });

  for (const fixture of fixtures('openai-chat', 'stream'))
    it(`tells the stream ${fixture.name} like the stream that it came from`, () => {
      const direct = play(
        new ChatTranslation(openAiChat, openAiChat, {
          format: 'openai-chat',
          path: '/',
        }).openStream(context, {}),
        fixture.bytes,
        [],
      );
      const there = play(asGemini.openStream(context, {}), fixture.bytes, []);
      const back = play(fromGemini.openStream(context, {}), there.bytes, []);
      if (direct.phases.at(-1) !== 'complete') {
        expect(there.phases.at(-1)).toBe(direct.phases.at(-1));
        return;
      }
      expect(back.phases.at(-1)).toBe('complete');
      expect(toldBy(back.bytes)).toEqual(toldBy(direct.bytes));
      expect(back.facts.usage ?? direct.facts.usage).toEqual(
        direct.facts.usage ?? back.facts.usage,
      );
    });
});

/** What a stream of chunks comes to: its text, with refusals, its calls and its end. */
function toldBy(bytes: Buffer): { text: string; calls: string; finish: string[] } {
  let said = '';
  const calls: string[] = [];
  const finish: string[] = [];
  for (const line of bytes.toString().split('\n')) {
    if (!line.startsWith('data: {')) continue;
    for (const { delta, finish_reason } of JSON.parse(line.slice(6)).choices) {
      said += (delta.content ?? '') + (delta.refusal ?? '');
      for (const { index, function: fn } of delta.tool_calls ?? [])
        calls[index] =
          (calls[index] ?? '') + (fn.name ?? '') + (fn.arguments ?? '').replaceAll(' ', '');
      if (finish_reason) finish.push(finish_reason);
    }
  }
  return { text: said, calls: calls.join('|'), finish };
}
