import { refuseChat, refuseConverse, refuseMessages, refuseResponses } from '@sluice/testkit';
import { ownTime } from '@sluice/testkit/own-time';
import { describe, expect, it } from 'vitest';
import { contextFor } from '../../test/fixtures.ts';
import { marksIn } from '../../test/marks-in.ts';
import { findProvider } from '../catalog.ts';
import type { JsonObject } from '../contract.ts';
import { findTranslation } from '../translation/find-translation.ts';

type Asked = 'chatComplete' | 'messages' | 'createModelResponse';

const brief = { type: 'ephemeral' };
const long = { type: 'ephemeral', ttl: '1h' };
const point = { prompt_cache_breakpoint: { mode: 'explicit' } };
const text = (words: string, cache_control: object) => ({
  type: 'text',
  text: words,
  cache_control,
});
const schema = { type: 'object', properties: {} };
const chatTool = (name: string, cache_control: object) => ({
  type: 'function',
  function: { name, parameters: schema },
  cache_control,
});

function encode(asked: Asked, at: string, body: object) {
  const provider = findProvider(at)!;
  const request = body as JsonObject;
  const model = String(request.model);
  const setting = (name: string) => (name === 'aws-region' ? 'us-east-1' : undefined);
  const context = contextFor(provider, true, { model, request, setting });
  const translation = findTranslation(provider, asked, context);
  const { body: sent, dropped } = translation.encode(request, context);
  return { sent: sent ?? request, dropped, format: translation.upstreamFormat };
}

/** As the vendor itself would. */
function refusal(format: string, model: string, sent: JsonObject) {
  if (format === 'anthropic-messages') return refuseMessages(sent);
  if (format === 'bedrock-converse') return refuseConverse(model, sent);
  return format === 'openai-responses' ? refuseResponses(sent) : refuseChat(sent);
}

const spoken = (model: string, more: object = {}) => ({
  model,
  max_tokens: 100,
  messages: [
    { role: 'system', content: [text('Be brief.', long)] },
    { role: 'user', content: [text('One?', brief)] },
    { role: 'assistant', content: 'One.' },
    { role: 'user', content: [text('Two?', brief)] },
    { role: 'assistant', content: 'Two.' },
    { role: 'user', content: [text('Three?', long)] },
  ],
  ...more,
});

it.each(['chatComplete', 'messages', 'createModelResponse'] as const)(
  'marks of %s reach MiniMax at its Anthropic address',
  (asked) => {
    const model = 'MiniMax-M2.7';
    const item = [
      {
        type: asked === 'createModelResponse' ? 'input_text' : 'text',
        text: 'One?',
        cache_control: brief,
      },
    ];
    const content = [{ role: 'user', content: item }];
    const body =
      asked === 'createModelResponse'
        ? { model, input: content }
        : { model, max_tokens: 9, messages: content };
    const { sent, dropped, format } = encode(asked, 'anthropic', body);
    expect([format, dropped]).toEqual(['anthropic-messages', []]);
    expect(sent.messages).toMatchObject([
      { content: [{ type: 'text', text: 'One?', cache_control: brief }] },
    ]);
  },
);

const loop = (model: string) => ({
  model,
  max_tokens: 100,
  system: [text('Be brief.', brief)],
  tools: [{ name: 'f', input_schema: schema, cache_control: brief }],
  messages: [
    { role: 'user', content: 'What is it?' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'f', input: {} }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'call_1', content: 'It.', cache_control: long },
      ],
    },
  ],
});

const twoTools = { tools: [chatTool('f', long), chatTool('g', long)] };
const inParts = (model: string) => ({
  model,
  input: [
    { role: 'developer', content: [{ type: 'input_text', text: 'Be brief.', ...point }] },
    { role: 'user', content: [{ type: 'input_text', text: 'One?', cache_control: long }] },
  ],
});
const found = {
  model: 'claude-opus-4-5',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'One?' }],
  tools: [{ ...chatTool('f', brief), function: { name: 'f', defer_loading: true } }],
};

describe('marks of the prompt cache', () => {
  it.each<[string, Asked, string, object, string[], string[]]>([
    [
      'Claude takes four, of which the longer lives come first',
      'chatComplete',
      'anthropic',
      spoken('claude-opus-4-5', twoTools),
      ['messages.2.content.0 5m', 'messages.4.content.0 5m', 'system.0 1h', 'tools.1 1h'],
      ['tools[0].cache_control', 'messages[1].cache_control', 'messages[5].cache_control.ttl'],
    ],
    [
      'so it does through Converse, where they stand behind what they mark',
      'chatComplete',
      'bedrock',
      spoken('anthropic.claude-opus-4-5-20251101-v1:0', twoTools),
      [
        'messages.2.content.1 5m',
        'messages.4.content.1 5m',
        'system.1 1h',
        'toolConfig.tools.2 1h',
      ],
      ['tools[0].cache_control', 'messages[1].cache_control', 'messages[5].cache_control.ttl'],
    ],
    [
      'an older Claude of Bedrock keeps nothing for an hour',
      'chatComplete',
      'bedrock',
      spoken('us.anthropic.claude-3-7-sonnet-20250219-v1:0'),
      [
        'messages.0.content.1 5m',
        'messages.2.content.1 5m',
        'messages.4.content.1 5m',
        'system.1 5m',
      ],
      ['messages[0].cache_control.ttl', 'messages[5].cache_control.ttl'],
    ],
    [
      'Nova takes none on tools',
      'messages',
      'bedrock',
      loop('amazon.nova-pro-v1:0'),
      ['messages.2.content.1 5m', 'system.1 5m'],
      ['tools[0].cache_control', 'messages[2].cache_control.ttl'],
    ],
    [
      'Llama takes none',
      'messages',
      'bedrock',
      loop('meta.llama3-3-70b-instruct-v1:0'),
      [],
      ['tools[0].cache_control', 'system.cache_control', 'messages[2].cache_control'],
    ],
    [
      'Titan takes none',
      'chatComplete',
      'bedrock',
      spoken('amazon.titan-text-premier-v1:0'),
      [],
      [0, 1, 3, 5].map((index) => `messages[${index}].cache_control`),
    ],
    [
      'a profile that hides its model is asked as it was told',
      'chatComplete',
      'bedrock',
      spoken('arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc'),
      [
        'messages.0.content.1 5m',
        'messages.2.content.1 5m',
        'messages.4.content.1 5m',
        'system.1 1h',
      ],
      ['messages[5].cache_control.ttl'],
    ],
    [
      'OpenRouter takes them as Claude does',
      'messages',
      'openrouter',
      loop('anthropic/claude-opus-4.5'),
      ['messages.0.content.0 5m', 'messages.3.content.0 5m', 'tools.0 5m'],
      ['messages[2].cache_control.ttl'],
    ],
    [
      'DashScope takes them on parts, for five minutes',
      'messages',
      'dashscope',
      loop('qwen3-max'),
      ['messages.0.content.0 5m', 'messages.3.content.0 5m'],
      ['tools[0].cache_control', 'messages[2].cache_control.ttl'],
    ],
    [
      'GPT-5.6 has a word of its own, for parts',
      'messages',
      'openai',
      loop('gpt-5.6'),
      ['input.0.content.0', 'input.3.output.0'],
      ['tools[0].cache_control', 'messages[2].cache_control.ttl'],
    ],
    [
      'GPT-5.5 keeps prompts by itself alone',
      'messages',
      'openai',
      loop('gpt-5.5'),
      [],
      ['tools[0].cache_control', 'system.cache_control', 'messages[2].cache_control'],
    ],
    [
      'marks of responses reach Claude, in either word',
      'createModelResponse',
      'anthropic',
      inParts('claude-opus-4-5'),
      ['messages.0.content.0 5m', 'system.0 5m'],
      ['input[1].cache_control.ttl'],
    ],
    [
      'a tool that is looked for carries none',
      'chatComplete',
      'anthropic',
      found,
      [],
      ['tools[0].cache_control'],
    ],
    [
      'a wish for all of it stands for nothing where the end has a mark',
      'chatComplete',
      'anthropic',
      spoken('claude-opus-4-5', { cache_control: long }),
      [
        'messages.0.content.0 5m',
        'messages.2.content.0 5m',
        'messages.4.content.0 5m',
        'system.0 1h',
      ],
      ['messages[5].cache_control.ttl'],
    ],
    [
      'what OpenAI does by itself is not missed',
      'messages',
      'openai',
      { ...loop('gpt-5.6'), system: 'Be brief.', tools: [], cache_control: brief },
      ['messages.3.content.0'],
      ['messages[2].cache_control.ttl'],
    ],
  ])('%s', (_, asked, at, body, marks, names) => {
    const { sent, dropped, format } = encode(asked, at, body);
    const { model } = body as { model: string };
    const isJudged = at !== 'openrouter' && at !== 'dashscope' && !model.startsWith('arn:');
    expect(isJudged ? refusal(format, model, sent) : undefined).toBeUndefined();
    expect(marksIn(sent).sort()).toEqual(marks);
    expect(dropped.filter((name) => name.includes('cache_control'))).toEqual(names);
  });

  it('cost no more than their number, however many there are', () => {
    const parts = Array.from({ length: 60_000 }, () => text('x', brief));
    const many = { model: 'claude-opus-4-5', messages: [{ role: 'user', content: parts }] };
    const spentMs = ownTime();
    const { sent, dropped } = encode('chatComplete', 'anthropic', many);
    expect(spentMs()).toBeLessThan(3_000);
    expect(marksIn(sent)).toHaveLength(4);
    expect(dropped).toEqual(['messages[0].cache_control']);
  });

  it('are no reason to change a request that has none', () => {
    const { messages, ...rest } = spoken('claude-opus-4-5');
    const plain = { ...rest, messages: messages.map(({ role }) => ({ role, content: 'x' })) };
    for (const at of ['anthropic', 'openai', 'openrouter', 'dashscope'])
      expect(marksIn(encode('chatComplete', at, plain).sent)).toEqual([]);
  });
});

const marked = (...messages: object[]) => ({ model: 'claude-opus-4-5', max_tokens: 9, messages });
const user = (...content: object[]) => ({ role: 'user', content });
const thought = { type: 'thinking', thinking: 'x', signature: 'y', cache_control: brief };

describe('test upstreams', () => {
  it.each<[string, object, RegExp]>([
    [
      'a fifth mark',
      marked(user(...['a', 'b', 'c', 'd', 'e'].map((word) => text(word, brief)))),
      /maximum of 4 blocks with cache_control may be provided. Found 5/,
    ],
    [
      'an hour behind five minutes',
      marked(user(text('a', brief), text('b', long))),
      /messages\.0\.content\.1\.cache_control\.ttl: a ttl='1h'/,
    ],
    ['a mark on a text of blanks', marked(user(text(' ', brief))), /for empty text blocks/],
    [
      'a mark on a thought',
      marked(user(text('a', brief)), { role: 'assistant', content: [thought] }),
      /thinking\.cache_control: Extra inputs/,
    ],
    ['another life', marked(user(text('a', { ...brief, ttl: '2h' }))), /should be '5m' or '1h'/],
  ])('refuse %s, as Anthropic does', (_, body, message) => {
    expect(JSON.stringify(refuseMessages(body)?.body)).toMatch(message);
  });
});

describe('how long a breakpoint is to hold', () => {
  const lasting = (ttl: string) => ({ prompt_cache_breakpoint: { mode: 'explicit', ttl } });
  const chat = (model: string, ttl: string) => ({
    model,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'One?', ...lasting(ttl) }] }],
    tools: [chatTool('f', {})].map(({ cache_control: _, ...tool }) => tool),
  });
  const responses = (model: string, ttl: string) => ({
    model,
    input: [{ role: 'user', content: [{ type: 'input_text', text: 'One?', ...lasting(ttl) }] }],
  });

  it.each(['30m', '12h'])('%s reaches OpenAI by way of its other format', (ttl) => {
    const { sent, dropped, format } = encode('chatComplete', 'openai', chat('gpt-6.1-sol', ttl));
    expect([format, dropped]).toEqual(['openai-responses', []]);
    expect(refusal(format, 'gpt-6.1-sol', sent)).toBeUndefined();
    expect((sent.input as JsonObject[])[0]?.content).toMatchObject([lasting(ttl)]);
  });

  it.each([
    ['anthropic', 'claude-opus-5-5', '12h', { ttl: '1h' }, true],
    ['anthropic', 'claude-opus-5-5', '30m', {}, false],
    ['bedrock', 'amazon.nova-lite-v1:0', '12h', {}, true],
    ['bedrock', 'amazon.nova-lite-v1:0', '30m', {}, false],
  ] as const)('is as long as there is at %s, %s: %s', (at, model, ttl, held, isNamed) => {
    for (const [asked, body, place] of [
      ['chatComplete', chat(model, ttl), 'messages'],
      ['createModelResponse', responses(model, ttl), 'input'],
    ] as const) {
      const { sent, dropped } = encode(asked, at, body);
      expect(dropped).toEqual(isNamed ? [`${place}[0].cache_control.ttl`] : []);
      const [turn] = sent.messages as JsonObject[];
      expect(turn?.content).toEqual(
        at === 'bedrock'
          ? [{ text: 'One?' }, { cachePoint: { type: 'default' } }]
          : [{ type: 'text', text: 'One?', cache_control: { ...brief, ...held } }],
      );
    }
  });
});
