import type { JsonObject, JsonValue } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { contextFor, okHead, play } from '../../../test/fixtures.ts';
import { assembleStream } from '../../assemble/assemble-stream.ts';
import { findProvider } from '../../catalog.ts';
import { findTranslation } from '../../translation/find-translation.ts';

const user = { role: 'user', content: 'q' };
const call = { id: 'callcall1', type: 'function', function: { name: 'f', arguments: '{}' } };
const signed = { type: 'reasoning.text', text: 'Hm.', signature: 'Eq==', format: 'x', index: 0 };
const sealed = { type: 'reasoning.encrypted', data: 'gAAA', id: 'rs_1', format: 'y', index: 0 };
const told = {
  type: 'reasoning.text',
  id: 'r1',
  format: 'MiniMax-response-v1',
  index: 0,
  text: 'Hm.',
};
const chunks = [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }], closed: true }];

/** What a provider answers, and what it wants to see of that again. */
interface Case {
  provider: string;
  model?: string;
  answer: JsonObject;
  again?: JsonObject;
}

const cases: readonly Case[] = [
  ...['deepseek', 'moonshot', 'z-ai', 'dashscope', 'novita-ai', 'siliconflow', 'nebius'].map(
    (provider) => ({ provider, answer: { reasoning_content: 'Hm.' } }),
  ),
  {
    provider: 'together-ai',
    answer: { reasoning: 'Hm.' },
    again: { reasoning_content: 'Hm.' },
  },
  { provider: 'groq', model: 'qwen/qwen3-32b', answer: { reasoning: 'Hm.' } },
  { provider: 'groq', model: 'openai/gpt-oss-120b', answer: { reasoning: 'Hm.' }, again: {} },
  { provider: 'openai', answer: { reasoning_content: 'Hm.' }, again: {} },
  {
    provider: 'cerebras',
    model: 'zai-glm-4.7',
    answer: { reasoning: 'Hm.' },
    again: { content: '<think>Hm.</think>' },
  },
  {
    provider: 'cerebras',
    model: 'gpt-oss-120b',
    answer: { reasoning: 'Hm.' },
    again: { content: 'Hm.' },
  },
  { provider: 'mistral-ai', model: 'magistral-medium-latest', answer: { content: chunks } },
  {
    provider: 'openrouter',
    answer: { reasoning: 'Hm.', reasoning_details: [signed, sealed] },
  },
  { provider: 'novita-ai', answer: { reasoning_content: 'Hm.', reasoning_details: [told] } },
  { provider: 'minimax', answer: { reasoning_details: [told] } },
  {
    provider: 'minimax',
    answer: { reasoning_content: 'Hm.' },
    again: { reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }] },
  },
];

describe.each(cases)('$provider within a tool loop: $answer', ({ provider: id, ...example }) => {
  const { answer, again = answer, model = 'm' } = example;
  const provider = findProvider(id)!;
  const messages = findTranslation(provider, 'messages', {
    model,
    stream: false,
    setting: () => undefined,
  });
  const context = contextFor(provider, true, { model, request: { model } });
  const message = { role: 'assistant', content: null, ...answer, tool_calls: [call] };

  const whole = (): JsonObject => {
    const choice = { index: 0, message, finish_reason: 'tool_calls' };
    const reply = JSON.stringify({ id: 'x', model, choices: [choice] });
    return JSON.parse(String(messages.decode(Buffer.from(reply), context, okHead).body));
  };
  const streamed = (): JsonObject => {
    const deltas = [...inPieces(answer), { tool_calls: [{ ...call, index: 0 }] }];
    const events = deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] }));
    const last = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
    const text = [...events, last].map(
      (chunk) => `data: ${JSON.stringify({ id: 'x', ...chunk })}\n\n`,
    );
    const bytes = Buffer.from(`${text.join('')}data: [DONE]\n\n`);
    const stream = play(messages.openStream(context, { model }), bytes, []);
    expect(stream.fault).toBeUndefined();
    return assembleStream('anthropic-messages', stream.bytes) as JsonObject;
  };

  it.each([
    ['whole', whole],
    ['as a stream', streamed],
  ])('is given its thinking back as it wants it, told %s', (_how, tell) => {
    const { content } = tell();
    const result = { type: 'tool_result', tool_use_id: 'callcall1', content: 'r' };
    const request = {
      model,
      max_tokens: 9,
      messages: [
        user,
        { role: 'assistant', content: content as JsonValue },
        { role: 'user', content: [result] },
      ],
    };
    const { body } = messages.encode(request, { ...context, request });
    const [, turn] = (body?.messages ?? []) as JsonObject[];
    const { role: _, tool_calls, ...sent } = turn as JsonObject;
    expect(sent).toEqual({ content: null, ...again });
    expect(tool_calls).toEqual([call]);
  });
});

/** Entries in pieces, beside the plain text that repeats them, and what proves one behind it. */
function inPieces({ reasoning_details: details, ...plain }: JsonObject): JsonObject[] {
  if (details === undefined) return [plain];
  const [name] = Object.keys(plain);
  return (details as JsonObject[]).flatMap(({ text, signature, ...rest }) => [
    ...['H', 'm.'].flatMap((piece) =>
      text === undefined
        ? []
        : [{ ...(name && { [name]: piece }), reasoning_details: [{ ...rest, text: piece }] }],
    ),
    ...(signature === undefined ? [] : [{ reasoning_details: [{ ...rest, signature }] }]),
    ...(text === undefined ? [{ reasoning_details: [rest] }] : []),
  ]);
}

it('gives OpenRouter its entries back after a turn without calls, too, and DeepSeek nothing', () => {
  for (const [id, reasoning, again] of [
    [
      'openrouter',
      { reasoning_details: [signed] },
      { reasoning: 'Hm.', reasoning_details: [signed] },
    ],
    ['deepseek', { reasoning_content: 'Hm.' }, {}],
  ] as const) {
    const provider = findProvider(id)!;
    const translation = findTranslation(provider, 'messages');
    const message = { role: 'assistant', content: 'a', ...reasoning };
    const reply = JSON.stringify({ choices: [{ message }] });
    const { content } = JSON.parse(
      String(translation.decode(Buffer.from(reply), contextFor(provider), okHead).body),
    );
    const turns = [user, { role: 'assistant', content }, user];
    const request = { model: 'm', max_tokens: 9, messages: turns };
    const { body } = translation.encode(request, contextFor(provider, true, { request }));
    expect(body?.messages).toEqual([user, { role: 'assistant', content: 'a', ...again }, user]);
  }
});

it('shows no provider the entries of another', () => {
  const provider = findProvider('openrouter')!;
  const own = findTranslation(provider, 'messages');
  const reply = JSON.stringify({
    choices: [{ message: { reasoning_details: [signed, sealed], tool_calls: [call] } }],
  });
  const { content } = JSON.parse(
    String(own.decode(Buffer.from(reply), contextFor(provider), okHead).body),
  );
  const request = { model: 'm', max_tokens: 9, messages: [user, { role: 'assistant', content }] };
  for (const id of ['anthropic', 'bedrock', 'google', 'openai', 'deepseek', 'cohere']) {
    const other = findProvider(id)!;
    const translation = findTranslation(other, 'messages');
    const { body } = translation.encode(request, contextFor(other, true, { model: 'm', request }));
    expect(JSON.stringify(body)).not.toContain('Eq==');
    expect(JSON.stringify(body)).not.toContain('gAAA');
  }
});
