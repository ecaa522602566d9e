import type { Endpoint, JsonObject, JsonValue } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { readFacts, type VendorReply } from '../../test/read-facts.ts';
import { boundedUsage } from './bounded-usage.ts';

const saidHi = [
  { choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
];

const events = (...list: JsonObject[]): readonly JsonObject[] => list;

/** Of each dialect a reply in which it tells such counts. */
const dialects: Readonly<Record<string, (input: JsonValue, output: JsonValue) => VendorReply>> = {
  'OpenAI, chat completions': (prompt_tokens, completion_tokens) => ({
    provider: 'openai',
    model: 'gpt-5.1',
    reply: { choices: [], usage: { prompt_tokens, completion_tokens } },
  }),
  'OpenAI, a stream': (prompt_tokens, completion_tokens) => ({
    provider: 'openai',
    model: 'gpt-5.1',
    reply: events(...saidHi, { choices: [], usage: { prompt_tokens, completion_tokens } }),
  }),
  'OpenAI, responses': (input_tokens, output_tokens) => ({
    provider: 'openai',
    endpoint: 'createModelResponse',
    model: 'gpt-5.1',
    reply: { id: 'r', status: 'completed', output: [], usage: { input_tokens, output_tokens } },
  }),
  'Anthropic, messages': (input_tokens, output_tokens) => ({
    provider: 'anthropic',
    endpoint: 'messages',
    model: 'claude-opus-4-6',
    reply: message({ input_tokens, output_tokens }),
  }),
  'Anthropic, beside what was cached': (input_tokens, output_tokens) => ({
    provider: 'anthropic',
    model: 'claude-opus-4-6',
    reply: message({
      input_tokens,
      output_tokens,
      cache_read_input_tokens: input_tokens === null ? null : 100,
    }),
  }),
  Gemini: (promptTokenCount, candidatesTokenCount) => ({
    provider: 'google',
    model: 'gemini-2.5-pro',
    reply: {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
      usageMetadata: {
        promptTokenCount,
        candidatesTokenCount,
        toolUsePromptTokenCount: promptTokenCount === null ? null : 40,
      },
    },
  }),
  'Anthropic, a stream in another format': (input_tokens, output_tokens) => ({
    provider: 'anthropic',
    model: 'claude-opus-4-6',
    reply: events(
      { type: 'message_start', message: message({ input_tokens }) },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens } },
      { type: 'message_stop' },
    ),
  }),
  Cohere: (input_tokens, output_tokens) => ({
    provider: 'cohere',
    model: 'command-r',
    reply: {
      id: 'c',
      finish_reason: 'COMPLETE',
      message: { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] },
      usage: { tokens: input_tokens === null ? null : { input_tokens, output_tokens } },
    },
  }),
  'Bedrock, Converse': (inputTokens, outputTokens) => ({
    provider: 'bedrock',
    model: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    reply: {
      output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
      stopReason: 'end_turn',
      usage: { inputTokens, outputTokens },
    },
  }),
};

function message(usage: JsonObject): JsonObject {
  const content = [{ type: 'text', text: 'Hi' }];
  return { id: 'm', type: 'message', role: 'assistant', model: 'm', content, usage };
}

const bounds = { inputTokensMax: 20_000, outputTokensMax: 20_000 };
const isTrusted = (reply: VendorReply) => {
  const { usage } = readFacts(reply);
  return usage !== undefined && !boundedUsage(usage, bounds).isImplausible;
};

describe.each(Object.entries(dialects))('%s', (_name, telling) => {
  it('is believed when it counts, nothing included', () => {
    expect(isTrusted(telling(10, 5))).toBe(true);
    expect(isTrusted(telling(10, 0))).toBe(true);
    expect(isTrusted(telling(0, 0))).toBe(true);
  });

  it('tells nothing where it names counts and gives none', () => {
    expect(readFacts(telling(null, null)).usage).toBeUndefined();
  });

  it.each<[string, JsonValue]>([
    ['less than nothing', -1],
    ['a part of a token', 1.5],
    ['words', '12'],
    ['a list', [12]],
    ['more than there can be', 1e300],
  ])('is not when it tells %s', (_what, count) => {
    expect([isTrusted(telling(count, 5)), isTrusted(telling(10, count))]).toEqual([false, false]);
  });
});

describe('halves of a usage', () => {
  const openAi = { provider: 'openai', model: 'gpt-5.1' };
  const told = (...usages: JsonObject[]) =>
    readFacts({
      ...openAi,
      reply: events(...saidHi, ...usages.map((usage) => ({ choices: [], usage }))),
    }).usage;

  it('keep what a stream told of the other before', () => {
    const whole = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };
    expect(told(whole, { completion_tokens: 600 })).toMatchObject({
      inputTokens: 1000,
      outputTokens: 600,
    });
    expect(told(whole, { prompt_tokens: null, completion_tokens: 600 })).toMatchObject({
      inputTokens: 1000,
    });
    expect(told(whole, { prompt_tokens: 10, completion_tokens: 20 })).toMatchObject({
      inputTokens: 10,
      outputTokens: 20,
    });
  });

  it('are not told by a total, but where all that counts goes in', () => {
    const usage = { total_tokens: 100 };
    expect(readFacts({ ...openAi, reply: { choices: [], usage } }).usage).toBeUndefined();
    expect(told(usage)).toBeUndefined();
    const embedded = readFacts({ ...openAi, endpoint: 'embed', reply: { data: [], usage } });
    expect(embedded.usage).toMatchObject({ inputTokens: 100, outputTokens: 0 });
  });
});

describe('usage that counts neither what went in nor what came out', () => {
  /** A total does not say which of them it is of; the words of another format are none of this. */
  const ofAnother = { total_tokens: 160, totalTokenCount: 160, foo_tokens: 1 };
  const answer = { id: 'r', status: 'completed', output: [] };
  const candidates = [
    { content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' },
  ];

  it.each<[string, VendorReply]>([
    ['responses', { ...ofOpenAi('createModelResponse'), reply: { ...answer, usage: ofAnother } }],
    [
      'responses, a stream',
      {
        ...ofOpenAi('createModelResponse'),
        reply: events({ type: 'response.completed', response: { ...answer, usage: ofAnother } }),
      },
    ],
    ['messages', { ...ofClaude('messages'), reply: message(ofAnother) }],
    ['messages in another format', { ...ofClaude('chatComplete'), reply: message(ofAnother) }],
    [
      'messages of a price tier alone',
      { ...ofClaude('messages'), reply: message({ service_tier: 'standard', speed: null }) },
    ],
    [
      'Gemini',
      {
        provider: 'google',
        model: 'gemini-2.5-pro',
        reply: { candidates, usageMetadata: { ...ofAnother, trafficType: 'ON_DEMAND' } },
      },
    ],
    [
      'Cohere',
      {
        provider: 'cohere',
        model: 'command-r',
        reply: {
          id: 'c',
          finish_reason: 'COMPLETE',
          message: { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] },
          usage: { billed_units: {}, tokens: {} },
        },
      },
    ],
    [
      'Bedrock',
      {
        provider: 'bedrock',
        model: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
        reply: {
          output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
          stopReason: 'end_turn',
          usage: { totalTokens: 160 },
        },
      },
    ],
    ['images', { ...ofOpenAi('imageGenerate'), reply: { data: [{}], usage: ofAnother } }],
  ])('is none, of %s', (_name, reply) => {
    const facts = readFacts(reply);
    expect(facts).not.toEqual({});
    expect(facts.usage).toBeUndefined();
  });

  it('charges what Cohere counted where it bills no count of it', () => {
    const facts = readFacts({
      provider: 'cohere',
      model: 'command-r',
      reply: {
        id: 'c',
        finish_reason: 'COMPLETE',
        message: { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] },
        usage: { billed_units: {}, tokens: { input_tokens: 120, output_tokens: 40 } },
      },
    });
    expect(facts).toMatchObject({ usage: { inputTokens: 120, outputTokens: 40 } });
    expect(facts.chargedTokens).toBeUndefined();
  });

  function ofOpenAi(endpoint: Endpoint) {
    return { provider: 'openai', endpoint, model: 'gpt-5.1' };
  }

  function ofClaude(endpoint: Endpoint) {
    return { provider: 'anthropic', endpoint, model: 'claude-opus-4-6' };
  }
});

describe('zeros that a stream tells after counts', () => {
  const openAi = { provider: 'openai', model: 'gpt-5.1' };
  const whole = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };
  const empty = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  const counted = { inputTokens: 1000, outputTokens: 500 };

  it.each<[string, Partial<VendorReply>]>([
    ['native', openAi],
    ['translated', { ...openAi, endpoint: 'messages' }],
  ])('take nothing back of chat completions, %s', (_way, vendor) => {
    const told = (...usages: JsonObject[]) =>
      readFacts({
        ...openAi,
        ...vendor,
        reply: events(...saidHi, ...usages.map((usage) => ({ choices: [], usage }))),
      }).usage;
    expect(told(whole, empty)).toMatchObject(counted);
    expect(told(whole, { ...empty, prompt_tokens: 900 })).toMatchObject({
      inputTokens: 900,
      outputTokens: 500,
    });
    const cached = { ...whole, prompt_tokens_details: { cached_tokens: 800 } };
    expect(told(cached, { ...empty, completion_tokens: 600 })).toMatchObject({
      inputTokens: 1000,
      cacheReadTokens: 800,
      outputTokens: 600,
    });
    expect(told(empty, whole)).toMatchObject(counted);
    expect(told(empty, empty)).toMatchObject({ inputTokens: 0, outputTokens: 0 });
  });

  it.each(['messages', 'chatComplete'] as const)(
    'take nothing back of messages, asked as %s',
    (endpoint) => {
      const told = (start: JsonObject, ...deltas: JsonObject[]) =>
        readFacts({
          provider: 'anthropic',
          model: 'claude-opus-4-6',
          endpoint,
          reply: events(
            { type: 'message_start', message: message(start) },
            { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } },
            { type: 'content_block_stop', index: 0 },
            ...deltas.map((usage) => ({
              type: 'message_delta',
              delta: { stop_reason: 'end_turn' },
              usage,
            })),
            { type: 'message_stop' },
          ),
        }).usage;
      const begun = { input_tokens: 200, cache_read_input_tokens: 800, output_tokens: 1 };
      expect(told(begun, { input_tokens: 0, output_tokens: 500 })).toMatchObject({
        ...counted,
        cacheReadTokens: 800,
      });
      expect(
        told(begun, { output_tokens: 500 }, { ...begun, input_tokens: 0, output_tokens: 0 }),
      ).toMatchObject({ inputTokens: 800, outputTokens: 500 });
      expect(
        told(
          { input_tokens: 1000, output_tokens: 0 },
          { input_tokens: 0, cache_read_input_tokens: 1000, output_tokens: 500 },
        ),
      ).toMatchObject({ ...counted, cacheReadTokens: 1000 });
    },
  );

  it('take nothing back of Gemini', () => {
    const fragment = (text: string, usageMetadata: JsonObject) => ({
      candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }],
      usageMetadata,
    });
    const { usage } = readFacts({
      provider: 'google',
      model: 'gemini-2.5-pro',
      reply: events(
        fragment('Hi', { promptTokenCount: 1000, candidatesTokenCount: 500 }),
        fragment('', { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 }),
      ),
    });
    expect(usage).toMatchObject(counted);
  });
});
