import type { JsonObject } from '@sluice/contracts';
import { ownTime } from '@sluice/testkit/own-time';
import { describe, expect, it } from 'vitest';
import { promptPrefix } from './prompt-prefix.ts';

const tools = [{ type: 'function', function: { name: 'look' } }];
const system = { role: 'system', content: 'You know the weather.' };
const user = { role: 'user', content: 'How is it in Oslo?' };
const later = [
  { role: 'assistant', content: 'Cold.' },
  { role: 'user', content: 'And in Bergen?' },
];
const mark = { cache_control: { type: 'ephemeral' } };
const marked = (text: string) => [{ type: 'text', text, ...mark }];
const chat = (more: object = {}): JsonObject => ({
  model: 'm',
  tools,
  messages: [system, user],
  ...more,
});
const messages = (more: object = {}): JsonObject => ({
  system: system.content,
  messages: [user],
  ...more,
});
const responses = (more: object = {}): JsonObject => ({ input: [user], ...more });
const line = (id: string) => `x-anthropic-billing-header: cc_version=2; cch=${id};\nBe brief.`;

describe('promptPrefix', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['through the turns', chat(), chat({ messages: [system, user, ...later] })],
    ['whatever model and settings', chat(), chat({ model: 'other', temperature: 1 })],
    [
      'while marks of caches move on',
      chat({
        messages: [system, { ...user, content: marked(user.content) }],
        tools: [{ ...tools[0], ...mark }],
      }),
      chat({ messages: [{ ...system, content: marked(system.content) }, user, ...later] }),
    ],
    [
      'in messages',
      messages({ system: marked(system.content) }),
      messages({ messages: [user, ...later] }),
    ],
    ['behind a line of bills', messages({ system: line('a') }), messages({ system: line('b') })],
    ['in responses', responses(), responses({ input: [user, { type: 'reasoning' }, ...later] })],
  ])('stays %s', (_, first, second) => {
    expect(promptPrefix(first)).toMatch(/^[0-9a-f]{16}$/);
    expect(promptPrefix(second)).toBe(promptPrefix(first));
  });

  it('differs with tools, system, first words, and pictures', () => {
    const picture = (data: string) => ({
      role: 'user',
      content: [{ type: 'image', source: { data } }],
    });
    const all = [
      chat(),
      chat({ tools: [{ name: 'listen' }] }),
      chat({ messages: [{ ...system, content: 'You know nothing.' }, user] }),
      chat({ messages: [system, later[1]] }),
      chat({ messages: [picture('AAAA')] }),
      chat({ messages: [picture('BBBB')] }),
      responses({ input: 'Hello' }),
      responses({ input: 'Hello', instructions: 'Be brief.' }),
    ].map(promptPrefix);
    expect(new Set(all).size).toBe(all.length);
  });

  it.each<[string, JsonObject]>([
    ['a request without a conversation', { prompt: 'Once upon' }],
    ['one that goes on in the memory of its provider', responses({ previous_response_id: 'r' })],
    ['one that does so by a conversation', responses({ conversation: 'c' })],
    ['no JSON', {}],
    ['turns of another shape', { messages: 7 }],
  ])('is nothing of %s', (_, params) => {
    expect(promptPrefix(params)).toBeUndefined();
  });

  it.each<[string, object]>([
    ['a long text', { messages: [{ role: 'user', content: 'x'.repeat(20_000_000) }] }],
    ['many tools', { tools: Array.from({ length: 300_000 }, () => ({ name: 'f' })) }],
    [
      'many parts',
      {
        messages: [{ role: 'user', content: Array.from({ length: 300_000 }, () => ({ a: 'b' })) }],
      },
    ],
    ['many turns', { messages: Array.from({ length: 300_000 }, () => ({ role: 'assistant' })) }],
  ])('looks at a bounded part of %s', (_, more) => {
    const long = chat(more);
    promptPrefix(long);
    const spentMs = ownTime();
    for (let count = 0; count < 100; count++) promptPrefix(long);
    expect(spentMs() / 100).toBeLessThan(5);
  });
});
