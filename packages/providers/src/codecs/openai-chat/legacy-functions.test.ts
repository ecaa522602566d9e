import type { JsonObject } from '@sluice/contracts';
import {
  type Refusal,
  refuseConverse,
  refuseGemini,
  refuseMessages,
  refuseResponses,
} from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { framesOf } from '../../../test/aws-frames.ts';
import {
  contextFor,
  everywhere,
  okHead,
  play,
  pretty,
  someFixtures,
} from '../../../test/fixtures.ts';
import { findProvider } from '../../catalog.ts';
import { parseSseEvents } from '../../framing/sse.ts';
import { findTranslation } from '../../translation/find-translation.ts';

interface Target {
  provider: string;
  model: string;
  format: string;
  reply: string;
  stream: string;
  /** It can be asked for one call at a time. */
  refuse: (body: JsonObject) => Refusal | undefined;
}

const targets: Target[] = [
  {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    format: 'anthropic-messages',
    reply: 'thinking-tools',
    stream: 'parallel-tool-calls',
    refuse: (body) => refuseMessages(body),
  },
  {
    provider: 'google',
    model: 'gemini-2.5-flash',
    format: 'gemini',
    reply: 'thinking-tools',
    stream: 'thinking-tools',
    refuse: (body) => refuseGemini('gemini-2.5-flash', body),
  },
  {
    provider: 'bedrock',
    model: 'amazon.nova-pro-v1:0',
    format: 'bedrock-converse',
    reply: 'thinking-tools',
    stream: 'thinking-tools',
    refuse: (body) => refuseConverse('amazon.nova-pro-v1:0', body),
  },
  {
    provider: 'openai',
    model: 'gpt-5.1-codex',
    format: 'openai-responses',
    reply: 'tool-calls',
    stream: 'reasoning-tools',
    refuse: (body) => refuseResponses(body),
  },
];

const [asked] = someFixtures('openai-chat', 'request', 'legacy-functions');
const body = asked!.json();
const { functions } = body;
const user = { role: 'user', content: 'x' };
const call = (name: string) => ({
  role: 'assistant',
  content: null,
  function_call: { name, arguments: '{}' },
});
const result = (name: string, content = name) => ({ role: 'function', name, content });

function callTo({ provider: id, model }: Target, request: JsonObject, strict = true) {
  const provider = findProvider(id)!;
  const context = contextFor(provider, strict, { model, request });
  return { context, translation: findTranslation(provider, 'chatComplete', context) };
}

function ask(target: Target, request: JsonObject) {
  const full = { messages: [user], ...request, model: target.model };
  const { context, translation } = callTo(target, full);
  expect(translation.mode).toBe('translated');
  return translation.encode(full, context);
}

/** The calls of an answer, as the caller of `request` reads it, and how it ended. */
function answered(target: Target, bytes: Buffer, request: JsonObject) {
  const { context, translation } = callTo(target, request);
  const { body: told } = translation.decode(bytes, context, okHead);
  const { message, finish_reason } = JSON.parse(String(told)).choices[0];
  return { message, finish_reason };
}

function chunksOf(target: Target, bytes: Buffer, request: JsonObject, cuts: number[]) {
  const { context, translation } = callTo(target, request);
  const { bytes: out, phases } = play(translation.openStream(context, request), bytes, cuts);
  expect(phases.at(-1)).toBe('complete');
  return [...parseSseEvents(out)]
    .filter(({ data }) => data !== '[DONE]')
    .map(({ data }) => JSON.parse(data).choices[0]);
}

function recorded({ format, reply, stream }: Target): { reply: Buffer; stream: Buffer } {
  const told = someFixtures(format, 'stream', stream)[0]!.bytes;
  return {
    reply: someFixtures(format, 'response', reply)[0]!.bytes,
    stream: format === 'bedrock-converse' ? framesOf(told) : told,
  };
}

describe.each(targets)('functions asked of $provider', (target) => {
  it('are tools, with a history of calls and results that the vendor takes', async () => {
    const encoded = ask(target, body);
    expect(target.refuse(encoded.body as JsonObject)).toBeUndefined();
    await expect(pretty(encoded)).toMatchFileSnapshot(asked!.golden(`${target.format}.json`));
    // Also where one call at a time cannot be asked for: nobody wrote a word of it.
    expect(encoded.dropped).toEqual([]);
  });

  it('are called as they were asked for', () => {
    for (const choice of ['none', 'auto', { name: 'get_time' }] as const) {
      const legacy = ask(target, { functions: functions!, function_call: choice });
      const tools = (functions as JsonObject[]).map((fn) => ({ type: 'function', function: fn }));
      const tool_choice =
        typeof choice === 'string' ? choice : { type: 'function', function: choice };
      const modern: JsonObject = { tools, tool_choice };
      if (choice !== 'none') modern.parallel_tool_calls = false;
      expect(legacy.body).toEqual(ask(target, modern).body);
    }
  });

  it('are answered with the first call alone, whole and in a stream', async () => {
    const { reply, stream } = recorded(target);
    const tools = answered(target, reply, {});
    const { message, finish_reason } = answered(target, reply, body);
    expect(tools.finish_reason).toBe('tool_calls');
    expect(finish_reason).toBe('function_call');
    expect(message.tool_calls).toBeUndefined();
    const { name, arguments: args } = tools.message.tool_calls[0].function;
    expect(message.function_call).toEqual({ name, arguments: args });

    const whole = chunksOf(target, stream, body, []);
    expect(chunksOf(target, stream, body, everywhere(stream))).toEqual(whole);
    const began = chunksOf(target, stream, {}, []).flatMap(({ delta }) => delta.tool_calls ?? []);
    const first = began.filter(({ index }) => index === began[0].index);
    expect(first.length).toBeGreaterThan(1);
    expect(whole.flatMap(({ delta }) => delta.function_call ?? [])).toEqual(
      first.map((piece) => piece.function),
    );
    expect(whole.some(({ delta }) => 'tool_calls' in delta)).toBe(false);
    expect(whole.at(-1).finish_reason).toBe('function_call');
    const told = { reply: { message, finish_reason }, stream: whole };
    await expect(pretty(told)).toMatchFileSnapshot(asked!.golden(`${target.format}.answers.json`));
  });

  it('end in the words of an answer that calls none', () => {
    const [text] = someFixtures(target.format, 'response', 'text', 'text-cache-usage');
    const { message, finish_reason } = answered(target, text!.bytes, body);
    expect([finish_reason, 'function_call' in message]).toEqual(['stop', false]);
  });
});

describe('functions', () => {
  const [anthropic] = targets as [Target];
  const encode = (request: JsonObject) => ask(anthropic, request);

  it('have calls whose ids are the same in every turn, paired in order by name', () => {
    const first = [user, call('get_time'), call('get_weather'), call('get_time')];
    const then = [result('get_time', '1'), result('get_weather', '2'), result('get_time', '3')];
    const idsOf = (messages: JsonObject[]) => {
      const { body: sent } = encode({ functions: functions!, messages: [...first, ...messages] });
      const blocks = (sent!.messages as JsonObject[]).flatMap(({ content }) =>
        Array.isArray(content) ? (content as JsonObject[]) : [],
      );
      return {
        calls: blocks.flatMap(({ id }) => id ?? []),
        results: blocks.flatMap(({ tool_use_id, content }) =>
          tool_use_id === undefined ? [] : [[tool_use_id, content]],
        ),
      };
    };
    const { calls, results } = idsOf(then);
    expect(new Set(calls).size).toBe(3);
    expect(results).toEqual([
      [calls[0], '1'],
      [calls[1], '2'],
      [calls[2], '3'],
    ]);
    const later = idsOf([...then, call('get_time'), result('get_time', '4')]);
    expect(later.calls.slice(0, 3)).toEqual(calls);
    expect(later.results.at(-1)).toEqual([later.calls.at(-1), '4']);
  });

  it('have the names of the caller where the vendor takes others', () => {
    const name = 'get weather!';
    const request = { functions: [{ name, parameters: { type: 'object' } }], messages: [user] };
    const { body: sent } = encode(request);
    const shown = (sent!.tools as JsonObject[])[0]!.name as string;
    expect(shown).not.toBe(name);
    const reply = {
      id: 'r',
      type: 'message',
      content: [{ type: 'tool_use', id: 'c', name: shown, input: {} }],
      stop_reason: 'tool_use',
    };
    const { message } = answered(anthropic, Buffer.from(JSON.stringify(reply)), request);
    expect(message.function_call).toEqual({ name, arguments: '{}' });
  });

  it.each([
    ['tools and functions', { functions: [], tools: [] }, 'body.functions'],
    ['functions that are no list', { functions: {} }, 'body.functions'],
    ['a function without a name', { functions: [{}] }, 'body.functions[0].name'],
    [
      'a call without a name',
      { messages: [{ role: 'assistant', function_call: {} }] },
      'body.messages[0].function_call.name',
    ],
    [
      'a result of what was not called',
      { messages: [call('f'), result('f'), result('f')] },
      'body.messages[2].name',
    ],
  ])('are refused with %s', (_, request, field) => {
    expect(() => encode(request as JsonObject)).toThrow(
      expect.objectContaining({ code: 'request.invalid_field', field }),
    );
  });

  it('lose what only tools are asked with, and tools what only functions are', () => {
    const [tools] = [[{ type: 'function', function: { name: 'f' } }]];
    const choice = { tool_choice: 'auto', parallel_tool_calls: true };
    expect(encode({ functions: functions!, ...choice }).dropped).toEqual(Object.keys(choice));
    expect(encode({ tools, function_call: 'auto' }).dropped).toEqual(['function_call']);
    expect(encode({ functions: functions!, function_call: 'any' }).dropped).toEqual([
      'function_call',
    ]);
  });
});
