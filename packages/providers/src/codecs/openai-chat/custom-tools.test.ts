import type { JsonObject } from '@sluice/contracts';
import { refuseChat, refuseResponses } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { contextFor, everywhere, okHead, play } from '../../../test/fixtures.ts';
import { findProvider } from '../../catalog.ts';
import type { ProviderEntry } from '../../contract.ts';
import { parseSseEvents } from '../../framing/sse.ts';
import { findTranslation } from '../../translation/find-translation.ts';

const patch = '*** Begin Patch\n*** Add File: a "b".txt\n+é𝄞\n*** End Patch';
const grammar = { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "x"' } };
const custom = {
  type: 'custom',
  custom: { name: 'apply_patch', description: 'Edits files.', format: grammar },
};
const plain = { type: 'custom', custom: { name: 'note' } };
const fn = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
const forced = { type: 'custom', custom: { name: 'apply_patch' } };
const called = {
  id: 'call_1',
  type: 'custom',
  custom: { name: 'apply_patch', input: patch },
};

const anthropic = findProvider('anthropic')!;
const openai = findProvider('openai')!;
const others = ['anthropic', 'google', 'bedrock', 'cohere'].map((id) => findProvider(id)!);

function ask(provider: ProviderEntry, model: string, body: JsonObject) {
  const request = { model, messages: [{ role: 'user', content: 'x' }], ...body };
  const context = contextFor(provider, true, { model, request });
  return findTranslation(provider, 'chatComplete', context).encode(request, context);
}

function translation(request: JsonObject, strict = true) {
  const context = contextFor(anthropic, strict, { model: 'claude-sonnet-4-5', request });
  return { context, found: findTranslation(anthropic, 'chatComplete', context) };
}

/** An answer of Claude's that calls a function, as the caller of chat reads it. */
function answered(tools: JsonObject[], name: string, input: JsonObject): JsonObject {
  const request = { model: 'm', messages: [], tools };
  const { context, found } = translation(request);
  const block = { type: 'tool_use', id: 'call_1', name, input };
  const reply = { id: 'r', type: 'message', content: [block], stop_reason: 'tool_use' };
  const { body } = found.decode(Buffer.from(JSON.stringify(reply)), context, okHead);
  return JSON.parse(String(body)).choices[0].message;
}

/** The same told in a stream, byte by byte: the deltas of its calls. */
function streamed(tools: JsonObject[], calls: { name: string; json: string }[]): JsonObject[] {
  const request = { model: 'm', messages: [], tools, stream: true };
  const { context, found } = translation(request);
  const events: Record<string, unknown>[] = [
    { type: 'message_start', message: { id: 'r', model: 'm', usage: {} } },
    ...calls.flatMap(({ name, json }, index) => [
      {
        type: 'content_block_start',
        index,
        content_block: { type: 'tool_use', id: `call_${index + 1}`, name, input: {} },
      },
      ...(json.match(/[\s\S]{1,3}/gu) ?? []).map((partial_json) => ({
        type: 'content_block_delta',
        index,
        delta: { type: 'input_json_delta', partial_json },
      })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ];
  const bytes = Buffer.from(
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  );
  const { bytes: out } = play(found.openStream(context, request), bytes, everywhere(bytes));
  const chunks = [...parseSseEvents(out)]
    .filter(({ data }) => data !== '[DONE]')
    .map(({ data }) => JSON.parse(data));
  expect(chunks.at(-1).choices[0].finish_reason).toBe('tool_calls');
  return chunks.flatMap((chunk) => chunk.choices[0].delta.tool_calls ?? []);
}

interface CallDelta {
  index: number;
  id?: string;
  type?: string;
  custom?: Record<string, string>;
  function?: Record<string, string>;
}

/** As the vendor's own stream is put together. */
function joined(deltas: JsonObject[]): Partial<CallDelta>[] {
  const calls: Partial<CallDelta>[] = [];
  for (const { index, id, type, ...delta } of deltas as unknown as CallDelta[]) {
    calls[index] ??= { id, type } as Partial<CallDelta>;
    const call = calls[index] as Partial<CallDelta>;
    for (const kind of ['custom', 'function'] as const)
      for (const key in delta[kind])
        call[kind] = { ...call[kind], [key]: (call[kind]?.[key] ?? '') + delta[kind][key] };
  }
  return calls;
}

describe('custom tools of chat callers', () => {
  it('are functions with one string to every other format; the grammar is told, and named', () => {
    for (const provider of others) {
      const { body, dropped } = ask(provider, 'claude-sonnet-4-5', { tools: [custom, plain] });
      const told = JSON.stringify(body);
      expect(told).toContain('Edits files.');
      expect(told).toContain('grammar (lark)');
      expect(told).toContain('"required":["input"]');
      expect(told).toContain('"note"');
      expect(dropped).toEqual(['tools[0].custom.format']);
    }
  });

  it('are custom tools where responses stand in for chat, with grammar, choice and history', () => {
    const { body, dropped } = ask(openai, 'gpt-5.5', {
      tools: [custom, plain, fn],
      tool_choice: forced,
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: null, tool_calls: [called] },
        { role: 'tool', tool_call_id: 'call_1', content: 'Done' },
      ],
    });
    expect(dropped).toEqual([]);
    expect(body).toMatchObject({
      tools: [
        {
          type: 'custom',
          name: 'apply_patch',
          description: 'Edits files.',
          format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
        },
        { type: 'custom', name: 'note' },
        { type: 'function', name: 'f' },
      ],
      tool_choice: { type: 'custom', name: 'apply_patch' },
      input: [
        { role: 'user' },
        { type: 'custom_tool_call', call_id: 'call_1', name: 'apply_patch', input: patch },
        { type: 'custom_tool_call_output', call_id: 'call_1', output: 'Done' },
      ],
    });
    expect(refuseResponses(body as Record<string, unknown>)).toBeUndefined();
  });

  it('may be demanded, and allowed among others', () => {
    expect(
      ask(anthropic, 'claude-sonnet-4-5', { tools: [custom, fn], tool_choice: forced }).body,
    ).toMatchObject({ tool_choice: { type: 'tool', name: 'apply_patch' } });
    const allowed = {
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [{ type: 'custom', custom: { name: 'note' } }] },
    };
    const { body, dropped } = ask(anthropic, 'claude-sonnet-4-5', {
      tools: [fn, plain],
      tool_choice: allowed,
    });
    expect(body).toMatchObject({ tools: [{ name: 'note' }], tool_choice: { type: 'any' } });
    expect(dropped).toEqual(['tools[0]']);
  });

  it('go on in the next turn: the call with its text, the result behind it', () => {
    const { body } = ask(anthropic, 'claude-sonnet-4-5', {
      tools: [custom],
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: null, tool_calls: [called] },
        { role: 'tool', tool_call_id: 'call_1', content: 'Done' },
      ],
    });
    expect(body?.messages).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', name: 'apply_patch', input: { input: patch } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1' }] },
    ]);
  });

  it('pass natively as they came', () => {
    const body = { tools: [custom], tool_choice: forced };
    const encoded = ask(openai, 'gpt-5', body);
    expect(encoded.body).toBeUndefined();
    expect(encoded.dropped).toEqual([]);
  });

  it('are answered in their own form, and functions beside them in theirs', () => {
    expect(answered([custom, fn], 'apply_patch', { input: patch }).tool_calls).toEqual([called]);
    expect(answered([custom, fn], 'f', { input: patch }).tool_calls).toEqual([
      {
        id: 'call_1',
        type: 'function',
        function: { name: 'f', arguments: JSON.stringify({ input: patch }) },
      },
    ]);
    expect(answered([custom], 'apply_patch', { other: 1 }).tool_calls).toMatchObject([
      { custom: { input: '{"other":1}' } },
    ]);
    expect(answered([custom], 'apply_patch', {}).tool_calls).toMatchObject([
      { custom: { input: '' } },
    ]);
  });

  it('are streamed in their own form, also beside others', () => {
    const deltas = streamed(
      [custom, fn],
      [
        { name: 'apply_patch', json: JSON.stringify({ input: patch }) },
        { name: 'f', json: '{"a":1}' },
        { name: 'apply_patch', json: '{"input":"b"}' },
      ],
    );
    expect(deltas[0]).toEqual({
      index: 0,
      id: 'call_1',
      type: 'custom',
      custom: { name: 'apply_patch', input: '' },
    });
    expect(joined(deltas)).toEqual([
      called,
      { id: 'call_2', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
      { id: 'call_3', type: 'custom', custom: { name: 'apply_patch', input: 'b' } },
    ]);
  });

  it('keep names that the vendor does not take', () => {
    const long = `mcp__files__${'patch_'.repeat(30)}`;
    const tool = { type: 'custom', custom: { name: long } };
    const { body } = ask(anthropic, 'claude-sonnet-4-5', { tools: [tool] });
    const { tools } = body as { tools: [{ name: string }] };
    const [{ name }] = tools;
    expect(name.length).toBeLessThanOrEqual(128);
    expect(answered([tool], name, { input: 'a' }).tool_calls).toEqual([
      { id: 'call_1', type: 'custom', custom: { name: long, input: 'a' } },
    ]);
  });

  it.each<[JsonObject, string]>([
    [{ tools: [{ type: 'custom' }] }, 'body.tools[0].custom.name'],
    [{ tools: [{ type: 'custom', custom: { name: 7 } }] }, 'body.tools[0].custom.name'],
    [
      { tools: [{ type: 'custom', custom: { name: 'a', format: { type: 'grammar' } } }] },
      'body.tools[0].custom.format.grammar.definition',
    ],
    [
      {
        messages: [
          { role: 'assistant', tool_calls: [{ id: 'a', type: 'custom', custom: { input: '' } }] },
        ],
      },
      'body.messages[0].tool_calls[0].custom.name',
    ],
    [
      {
        messages: [
          { role: 'assistant', tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'a' } }] },
        ],
      },
      'body.messages[0].tool_calls[0].custom.input',
    ],
  ])('are refused with the place of the fault: %j', (body, field) => {
    expect(() => ask(anthropic, 'claude-sonnet-4-5', body)).toThrow(
      expect.objectContaining({ field }),
    );
  });
});

describe('the vendor, as tests have it', () => {
  const messages = [{ role: 'user', content: 'x' }];
  const chat = (more: JsonObject) => refuseChat({ model: 'gpt-5', messages, ...more });
  const flat = { type: 'custom', name: 'a', format: { type: 'grammar', ...grammar.grammar } };

  it('takes custom tools in the form of each endpoint', () => {
    expect(chat({ tools: [custom, plain], tool_choice: forced })).toBeUndefined();
    expect(refuseResponses({ model: 'gpt-5', input: 'x', tools: [flat] })).toBeUndefined();
  });

  it.each<JsonObject>([
    { tools: [flat] },
    { tools: [{ type: 'custom', custom: { name: 'a', format: flat.format } }] },
    { tools: [{ type: 'custom', custom: { name: 'a', format: { type: 'json' } } }] },
    { tools: [fn], tool_choice: { type: 'function', function: { name: 'apply_patch' } } },
    { tools: [fn], tool_choice: forced },
    { tools: [custom], tool_choice: { type: 'custom', name: 'apply_patch' } },
  ])('refuses what is of another: %j', (more) => {
    expect(chat(more)).toBeDefined();
  });

  it('refuses a grammar of chat at responses', () => {
    const tools = [{ type: 'custom', name: 'a', format: grammar }];
    expect(refuseResponses({ model: 'gpt-5', input: 'x', tools })).toBeDefined();
  });
});
