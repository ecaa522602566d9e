import { refuseConverse, refuseMessages } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { contextFor } from '../../test/fixtures.ts';
import { marksIn } from '../../test/marks-in.ts';
import { findProvider } from '../catalog.ts';
import type { CachePrefix, JsonObject } from '../contract.ts';
import { findTranslation } from '../translation/find-translation.ts';

type Asked = 'chatComplete' | 'messages' | 'createModelResponse';

const settings: Record<string, string> = {
  'aws-region': 'us-east-1',
  'azure-foundry-url': 'https://example.services.ai.azure.com/anthropic',
};

function encode(asked: Asked, at: string, body: object, cachePrefix?: CachePrefix) {
  const provider = findProvider(at)!;
  const request = body as JsonObject;
  const context = contextFor(provider, true, {
    model: String(request.model),
    request,
    setting: (name) => settings[name],
    ...(cachePrefix === undefined ? {} : { cachePrefix }),
  });
  return findTranslation(provider, asked, context).encode(request, context);
}

const schema = { type: 'object', properties: {} };
const mark = { cache_control: { type: 'ephemeral' } };
const loop = (model: string, more: object = {}) => ({
  model,
  max_tokens: 100,
  system: 'Be brief.',
  tools: [
    { name: 'f', input_schema: schema },
    { name: 'g', input_schema: schema, defer_loading: true },
  ],
  messages: [
    { role: 'user', content: 'What is it?' },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'call_1', name: 'f', input: {} }],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'call_1', content: 'It.' },
        { type: 'text', text: ' ' },
      ],
    },
  ],
  ...more,
});
const chat = (model: string, more: object = {}) => ({
  model,
  max_tokens: 100,
  tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'What is it?' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'It.' },
  ],
  ...more,
});
const results = {
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'It.' }],
};
const short: CachePrefix = { ttl: '5m' };
const long: CachePrefix = { ttl: '1h' };
const claude = 'claude-opus-4-5';
const onBedrock = 'anthropic.claude-opus-4-5-20251101-v1:0';

describe('marks of the beginning of a prompt', () => {
  it.each<[string, Asked, string, object, CachePrefix, string[]]>([
    [
      'Claude, natively, behind what takes one',
      'messages',
      'anthropic',
      loop(claude),
      short,
      ['messages.0.content.0 5m', 'messages.2.content.0 5m', 'system.0 5m', 'tools.0 5m'],
    ],
    [
      'Claude through InvokeModel',
      'messages',
      'bedrock',
      loop(onBedrock),
      long,
      ['messages.0.content.0 1h', 'messages.2.content.0 1h', 'system.0 1h', 'tools.0 1h'],
    ],
    [
      'Claude on Vertex AI',
      'messages',
      'vertex-ai',
      loop('anthropic.claude-opus-4-5@20251101'),
      short,
      ['messages.0.content.0 5m', 'messages.2.content.0 5m', 'system.0 5m', 'tools.0 5m'],
    ],
    [
      'Claude at Azure',
      'messages',
      'azure-ai',
      loop(claude),
      short,
      ['messages.0.content.0 5m', 'messages.2.content.0 5m', 'system.0 5m', 'tools.0 5m'],
    ],
    [
      'Claude, translated, for an hour',
      'chatComplete',
      'anthropic',
      chat(claude),
      long,
      ['messages.0.content.0 1h', 'messages.2.content.0 1h', 'system.0 1h', 'tools.0 1h'],
    ],
    [
      'Claude through Converse',
      'chatComplete',
      'bedrock',
      chat(onBedrock),
      long,
      [
        'messages.0.content.1 1h',
        'messages.2.content.1 1h',
        'system.1 1h',
        'toolConfig.tools.1 1h',
      ],
    ],
    [
      'Nova, which takes none on tools and keeps nothing for an hour',
      'chatComplete',
      'bedrock',
      chat('amazon.nova-pro-v1:0'),
      long,
      ['messages.0.content.1 5m', 'messages.2.content.1 5m', 'system.1 5m'],
    ],
    [
      'Claude at OpenRouter, natively',
      'chatComplete',
      'openrouter',
      chat('anthropic/claude-opus-4.5'),
      long,
      ['messages.0.content.0 1h', 'messages.1.content.0 1h', 'messages.3.content.0 1h'],
    ],
    [
      'Qwen at DashScope, translated',
      'messages',
      'dashscope',
      loop('qwen3-max', { messages: loop('').messages.with(2, results) }),
      long,
      ['messages.0.content.0 5m', 'messages.1.content.0 5m', 'messages.3.content.0 5m'],
    ],
    [
      'not the question of a conversation that has no answer yet',
      'messages',
      'anthropic',
      loop(claude, { messages: [{ role: 'user', content: 'What is it?' }] }),
      short,
      ['system.0 5m', 'tools.0 5m'],
    ],
    [
      'no request that has marks of its own',
      'messages',
      'anthropic',
      loop(claude, { system: [{ type: 'text', text: 'Be brief.', ...mark }] }),
      short,
      ['system.0 5m'],
    ],
    [
      'nor one that wants all of it kept',
      'messages',
      'anthropic',
      loop(claude, mark),
      short,
      [' 5m'],
    ],
    ['no provider that keeps prompts by itself', 'messages', 'openai', loop('gpt-5.6'), short, []],
    [
      'nor a model of a host that does',
      'chatComplete',
      'openrouter',
      chat('openai/gpt-5'),
      short,
      [],
    ],
    [
      'nor one that never does',
      'messages',
      'bedrock',
      loop('meta.llama3-3-70b-instruct-v1:0'),
      short,
      [],
    ],
    ['nor Gemini', 'chatComplete', 'google', chat('gemini-3-pro'), short, []],
  ])('are set for %s', (_, asked, at, body, prefix, marks) => {
    const plain = encode(asked, at, body);
    const { body: sent = body as JsonObject, dropped } = encode(asked, at, body, prefix);
    expect(marksIn(sent).sort()).toEqual(marks);
    expect(dropped).toEqual(plain.dropped);
    if (marks.length === 0) expect(sent).toEqual(plain.body ?? body);
  });

  it.each<[string, () => unknown]>([
    [
      'Anthropic',
      () => refuseMessages(encode('chatComplete', 'anthropic', chat(claude), long).body),
    ],
    [
      'Bedrock',
      () =>
        refuseConverse(onBedrock, encode('chatComplete', 'bedrock', chat(onBedrock), long).body),
    ],
  ])('are within the rules of %s', (_, refusal) => {
    expect(refusal()).toBeUndefined();
  });

  it('change those members alone of a native request, and none without the setting', () => {
    const { edits } = encode('messages', 'anthropic', loop(claude), short);
    expect(Object.keys(edits ?? {}).sort()).toEqual(['messages', 'system', 'tools']);
    expect(encode('messages', 'anthropic', loop(claude)).body).toBeUndefined();
  });
});
