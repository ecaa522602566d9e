import type { JsonObject } from '@sluice/contracts';
import { refuseChat, refuseResponses } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { contextFor } from '../../../test/fixtures.ts';
import { findProvider } from '../../catalog.ts';
import type { CallContext } from '../../contract.ts';
import { findTranslation } from '../../translation/find-translation.ts';

const models = [
  ...['gpt-6-astra', 'gpt-6-sol', 'gpt-6-luna', 'gpt-6.1-sol', 'gpt-6.1-terra'],
  ...['gpt-5.6', 'gpt-5.6-terra', 'gpt-5.5', 'gpt-5.5-pro', 'gpt-5.4', 'gpt-5.3-codex', 'gpt-5.1'],
  ...['gpt-5', 'gpt-5-mini', 'gpt-5-pro', 'gpt-5-codex', 'o3', 'o3-deep-research', 'gpt-4.1'],
];

const tool = { name: 'f', input_schema: { type: 'object', properties: {} } };
const long = { ...tool, name: `mcp__files__${'read_'.repeat(20)}` };
const hosted = { type: 'bash_20250124', name: 'bash' };
const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };
const byUrl = { type: 'url', url: 'https://files.example/a.pdf' };
const picture = { type: 'base64', media_type: 'image/png', data: 'AA==' };
const user = (content: unknown) => ({ role: 'user', content });
const uses = (...ids: string[]) => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })),
});
const result = (tool_use_id: string, content: unknown = 'x') => ({
  type: 'tool_result',
  tool_use_id,
  content,
});

/** What callers of messages ask, Claude Code first of all. */
const cases: Record<string, object> = {
  nothing: {},
  tools: { tools: [tool] },
  'tools and thinking': { tools: [tool], thinking: { type: 'enabled', budget_tokens: 4096 } },
  'tools without thinking': { tools: [tool], thinking: { type: 'disabled' } },
  'tools with long names': { tools: [long], tool_choice: { type: 'tool', name: long.name } },
  'a choice of tools of which none is left': {
    tools: [hosted],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  },
  sampling: { temperature: 0.2, top_p: 0.5, top_k: 4, stop_sequences: ['x'] },
  'sampling with tools': { temperature: 0.2, tools: [tool] },
  'few tokens': { max_tokens: 1 },
  'a long name of the user': { metadata: { user_id: 'u'.repeat(159) } },
  'a PDF without a name': {
    messages: [user([{ type: 'document', source: pdf }])],
  },
  'a document by its address': {
    messages: [user([{ type: 'document', source: byUrl }])],
  },
  'foreign ids': {
    tools: [tool],
    messages: [
      user('x'),
      uses('functions.f:0', 'x'.repeat(90)),
      user([result('functions.f:0'), result('x'.repeat(90))]),
    ],
  },
  'parallel results with a picture': {
    tools: [tool],
    messages: [
      user('x'),
      uses('a', 'b'),
      user([result('a', [{ type: 'image', source: picture }])]),
      user([result('b')]),
    ],
  },
  'thoughts of the same vendor': {
    tools: [tool],
    messages: [
      user('x'),
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'openai:encrypted:abc' },
          { type: 'tool_use', id: 'a', name: 'f', input: {} },
        ],
      },
      user([result('a')]),
    ],
  },
  ...Object.fromEntries(
    ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'].flatMap((effort) => [
      [`effort ${effort}`, { output_config: { effort } }],
      [`effort ${effort} with tools`, { output_config: { effort }, tools: [tool] }],
      [`effort ${effort} with sampling`, { output_config: { effort }, temperature: 0 }],
    ]),
  ),
};

/** As the vendor would answer, at the endpoint that the call goes to. */
function refusalOf(endpoint: 'messages' | 'chatComplete', context: CallContext, body: JsonObject) {
  const call = findTranslation(context.provider, endpoint, context);
  const sent = call.encode(body, context).body ?? body;
  return call.entry.format === 'openai-responses' ? refuseResponses(sent) : refuseChat(sent);
}

describe.each(['openai', 'azure-openai'])('what %s is asked', (id) => {
  const provider = findProvider(id)!;

  it.each(Object.entries(cases))(
    'is taken by every model for callers of messages: %s',
    (_, asked) => {
      for (const model of models) {
        const request = { model, max_tokens: 2000, messages: [user('x')], ...asked } as JsonObject;
        const context = contextFor(provider, true, { model, request });
        expect([model, refusalOf('messages', context, request)]).toEqual([model, undefined]);
      }
    },
  );

  it('is taken by every model for callers of chat, with functions and an effort that it has', () => {
    const fn = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
    for (const model of models) {
      const request = { model, messages: [user('x')], tools: [fn] } as JsonObject;
      const context = contextFor(provider, true, { model, request });
      expect([model, refusalOf('chatComplete', context, request)]).toEqual([model, undefined]);
    }
  });
});

describe.each<[id: string, efforts: [model: string, effort: string, told: string | undefined][]]>([
  [
    'x-ai',
    [
      ['grok-4', 'high', undefined],
      ['grok-4-1-fast-reasoning', 'low', undefined],
      ['grok-4.3', 'none', 'none'],
      ['grok-4.3', 'max', 'high'],
      ['grok-4.5', 'none', 'low'],
      ['grok-4.5', 'medium', 'medium'],
      ['grok-4.7', 'xhigh', 'xhigh'],
      ['grok-3-mini', 'medium', 'low'],
    ],
  ],
  [
    'mistral-ai',
    [
      ['mistral-medium-2604', 'low', 'high'],
      ['mistral-small-latest', 'high', 'high'],
      ['magistral-medium-2509', 'medium', 'high'],
      ['mistral-medium-2508', 'high', undefined],
      ['mistral-large-latest', 'high', undefined],
    ],
  ],
])('a model at %s', (id, efforts) => {
  const provider = findProvider(id)!;
  it.each(efforts)('%s is told of the effort %s as it has it: %s', (model, effort, told) => {
    const request = { model, max_tokens: 9, messages: [user('x')], output_config: { effort } };
    const context = contextFor(provider, true, { model, request: request as JsonObject });
    const { body, dropped } = findTranslation(provider, 'messages', context).encode(
      request as JsonObject,
      context,
    );
    expect(body?.reasoning_effort).toBe(told);
    expect(dropped).toEqual(told === effort ? [] : ['output_config.effort']);
  });
});

describe('what else is said of a request that was changed', () => {
  const openai = findProvider('openai')!;
  const ask = (model: string, more: object) => {
    const request = { model, max_tokens: 2000, messages: [user('x')], ...more } as JsonObject;
    const context = contextFor(openai, true, { model, request });
    return findTranslation(openai, 'messages', context).encode(request, context);
  };

  it('names what was left out or moved, and nothing else', () => {
    expect(ask('gpt-5.6', { temperature: 0.2, tools: [tool] }).dropped).toEqual(['temperature']);
    expect(ask('gpt-5.6', { temperature: 1, tools: [tool] }).dropped).toEqual([]);
    expect(ask('o3', { output_config: { effort: 'max' } })).toMatchObject({
      body: { reasoning_effort: 'high' },
      dropped: ['output_config.effort'],
    });
    expect(ask('gpt-4.1', { output_config: { effort: 'high' } }).dropped).toEqual([
      'output_config.effort',
    ]);
    expect(ask('gpt-5.6', { tools: [tool], max_tokens: 1 })).toMatchObject({
      body: { max_output_tokens: 16 },
      dropped: ['max_tokens'],
    });
    expect(ask('gpt-5.6', { metadata: { user_id: 'u'.repeat(159) } }).dropped).toEqual([]);
  });

  it('tells users of long names apart within 64 characters, each by the same word every time', () => {
    const userOf = (user_id: string) => ask('gpt-4.1', { metadata: { user_id } }).body?.user;
    const long = `user_${'a'.repeat(154)}`;
    expect(userOf(long)).toMatch(/^.{1,64}$/);
    expect(userOf(long)).toBe(userOf(long));
    expect(userOf(`${long}1`)).not.toBe(userOf(`${long}2`));
    expect(userOf('u'.repeat(64))).toBe('u'.repeat(64));
  });

  it('asks a model that reasons for its encrypted reasoning, and another not', () => {
    const include = ['reasoning.encrypted_content'];
    expect(ask('gpt-5.6', { tools: [tool] }).body).toMatchObject({ include, store: false });
    expect(ask('gpt-5-codex', {}).body).toMatchObject({ include });
    expect(
      ask('gpt-5.6', { tools: [tool], output_config: { effort: 'none' } }).body,
    ).not.toHaveProperty('include');
  });

  it('shows no thought to a model of OpenAI’s that does not reason', () => {
    const thought = { type: 'thinking', thinking: 'hm', signature: 'openai:encrypted:abc' };
    const messages = [
      user('x'),
      { role: 'assistant', content: [thought, { type: 'text', text: 'a' }] },
    ];
    const request: JsonObject = { model: 'gpt-4.1', max_tokens: 20, messages } as JsonObject;
    const context = contextFor(openai, true, {
      model: 'gpt-4.1',
      request,
      betas: ['use-responses-api-2026-07-30'],
    });
    const call = findTranslation(openai, 'messages', context);
    expect(call.entry.format).toBe('openai-responses');
    const { body, dropped } = call.encode(request, context);
    expect(refuseResponses(body)).toBeUndefined();
    expect(dropped).toEqual(['thinking']);
  });

  it('takes an effort for what most models have where nothing is known of one', () => {
    const other = findProvider('cometapi')!;
    const efforts = ['max', 'high', 'none'].map((effort) => {
      const request = { model: 'm', max_tokens: 9, messages: [], output_config: { effort } };
      const { body } = findTranslation(other, 'messages').encode(request, contextFor(other));
      return body?.reasoning_effort;
    });
    expect(efforts).toEqual(['high', 'high', 'none']);
  });
});
