import { boundSignature, refuseMessages } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { contextFor } from '../../../test/fixtures.ts';
import { findProvider } from '../../catalog.ts';
import type { JsonObject, JsonValue } from '../../contract.ts';
import { findTranslation } from '../../translation/find-translation.ts';

const anthropic = findProvider('anthropic')!;
const user = { role: 'user', content: 'Hi' };
const tools = [
  { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } },
];

function ask(model: string, more: object, provider = 'anthropic') {
  const found = findProvider(provider)!;
  const context = contextFor(found, true, { model });
  const body = { model, messages: [user], ...more } as unknown as JsonObject;
  const { body: sent, dropped } = findTranslation(found, 'chatComplete', context).encode(
    body,
    context,
  );
  return { sent: sent as JsonObject, dropped };
}

function askResponses(model: string, more: object) {
  const context = contextFor(anthropic);
  const body = { model, input: 'Hi', ...more } as unknown as JsonObject;
  const call = findTranslation(anthropic, 'createModelResponse');
  return call.encode(body, context).body as JsonObject;
}

const effort = (level: string) => ({ output_config: { effort: level } });

describe('sampling', () => {
  const asked = { temperature: 0.2, top_p: 0.5, top_k: 3 };

  it.each(['claude-opus-4-7', 'claude-sonnet-5', 'claude-haiku-5-5', 'claude-fable-5-1'])(
    'is left out for %s, and named',
    (model) => {
      const { sent, dropped } = ask(model, asked);
      for (const key in asked) expect(sent).not.toHaveProperty(key);
      expect(dropped).toEqual(['temperature', 'top_p', 'top_k']);
      const bedrock = ask(`us.anthropic.${model}`, asked, 'bedrock');
      expect(bedrock.sent).toEqual({ messages: [{ role: 'user', content: [{ text: 'Hi' }] }] });
      expect(bedrock.dropped).toEqual(['temperature', 'top_p', 'top_k']);
    },
  );

  it('is not missed where it is the default', () => {
    expect(ask('claude-opus-5', { temperature: 1, top_p: 1 }).dropped).toEqual([]);
  });

  it('reaches older models, as much of it as they take', () => {
    expect(ask('claude-opus-4-6', asked)).toMatchObject({
      sent: { temperature: 0.2, top_k: 3 },
      dropped: ['top_p'],
    });
    expect(ask('claude-3-5-haiku', asked)).toMatchObject({ sent: asked, dropped: [] });
  });
});

describe('a demand to call a tool', () => {
  const asked = { tools, tool_choice: 'required' };

  it.each(['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-fable-5', 'claude-mythos-preview'])(
    'is left out for %s, and named',
    (model) => {
      const { sent, dropped } = ask(model, asked);
      expect(sent).not.toHaveProperty('tool_choice');
      expect(sent.tools).toHaveLength(1);
      expect(dropped).toEqual(['tool_choice']);
    },
  );

  it.each(['claude-opus-4-6', 'claude-opus-4-8', 'claude-sonnet-5', 'claude-opus-5'])(
    'reaches %s while it thinks',
    (model) => {
      expect(ask(model, { ...asked, reasoning_effort: 'high' })).toMatchObject({
        sent: { tool_choice: { type: 'any' }, thinking: { type: 'adaptive' }, ...effort('high') },
        dropped: [],
      });
    },
  );

  it('gives way to a budget', () => {
    expect(ask('claude-sonnet-4-5', { ...asked, reasoning_effort: 'high' }).dropped).toEqual([
      'tool_choice',
    ]);
  });

  it('switches thinking off on Bedrock where the model thinks by itself', () => {
    const { sent, dropped } = ask('us.anthropic.claude-sonnet-5', asked, 'bedrock');
    expect(sent).toMatchObject({
      toolConfig: { toolChoice: { any: {} } },
      additionalModelRequestFields: { thinking: { type: 'disabled' } },
    });
    expect(dropped).toEqual([]);
  });
});

describe('how much to think', () => {
  const cases: [model: string, asked: object, sent: object, dropped: string[]][] = [
    // None.
    ['claude-opus-4-8', { reasoning_effort: 'none' }, {}, []],
    ['claude-opus-5', { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }, []],
    [
      'claude-sonnet-5-5',
      { reasoning_effort: 'none' },
      { thinking: { type: 'between_tools' } },
      [],
    ],
    [
      'claude-sonnet-5-5',
      { reasoning_effort: 'none', tools },
      { thinking: { type: 'between_tools' } },
      ['reasoning_effort'],
    ],
    ['claude-opus-5-5', { reasoning_effort: 'none' }, effort('low'), ['reasoning_effort']],
    ['claude-fable-5-1', { thinking: { type: 'disabled' } }, effort('low'), ['thinking']],
    // Levels.
    [
      'claude-opus-4-6',
      { reasoning_effort: 'xhigh' },
      { thinking: { type: 'adaptive' }, ...effort('high') },
      ['reasoning_effort'],
    ],
    [
      'claude-opus-4-6',
      { reasoning_effort: 'max' },
      { thinking: { type: 'adaptive' }, ...effort('max') },
      [],
    ],
    [
      'claude-opus-4-7',
      { reasoning_effort: 'xhigh' },
      { thinking: { type: 'adaptive' }, ...effort('xhigh') },
      [],
    ],
    [
      'claude-opus-5',
      { thinking: { type: 'disabled' }, reasoning_effort: 'max' },
      { thinking: { type: 'disabled' }, ...effort('high') },
      ['reasoning_effort'],
    ],
    // Budgets.
    [
      'claude-opus-4-7',
      { thinking: { type: 'enabled', budget_tokens: 10_000 } },
      { thinking: { type: 'adaptive' }, ...effort('medium') },
      ['thinking.budget_tokens'],
    ],
    ['claude-opus-5-5', { thinking: { type: 'enabled' } }, { thinking: { type: 'adaptive' } }, []],
    [
      'claude-sonnet-4-5',
      { thinking: { type: 'enabled' } },
      { thinking: { type: 'enabled', budget_tokens: 8192 } },
      [],
    ],
    [
      'claude-sonnet-4-5',
      { thinking: { type: 'adaptive' } },
      { thinking: { type: 'enabled', budget_tokens: 8192 } },
      ['thinking.type'],
    ],
    [
      'claude-sonnet-4-5',
      { thinking: { type: 'enabled', budget_tokens: 9000 }, max_tokens: 4000 },
      { thinking: { type: 'enabled', budget_tokens: 2000 }, max_tokens: 4000 },
      ['thinking.budget_tokens'],
    ],
    // Between tools.
    [
      'claude-sonnet-5-5',
      { thinking: { type: 'between_tools' } },
      { thinking: { type: 'between_tools' } },
      [],
    ],
    [
      'claude-opus-5',
      { thinking: { type: 'between_tools' } },
      { thinking: { type: 'disabled' } },
      ['thinking.type'],
    ],
    ['claude-3-5-haiku', { reasoning_effort: 'high' }, {}, ['reasoning_effort']],
    ['claude-3-5-haiku', { max_tokens: 9000 }, { max_tokens: 8192 }, ['max_tokens']],
  ];

  it.each(cases)('%s: %j', (model, asked, expected, dropped) => {
    const { sent, dropped: named } = ask(model, asked);
    const { thinking, output_config } = sent;
    expect({ thinking, output_config }).toEqual({
      thinking: undefined,
      output_config: undefined,
      ...('max_tokens' in expected ? { ...expected, max_tokens: undefined } : expected),
    });
    if ('max_tokens' in expected) expect(sent.max_tokens).toBe(expected.max_tokens);
    expect(named).toEqual(dropped);
  });

  it('shows thoughts to a caller of responses who asks for a summary', () => {
    expect(askResponses('claude-opus-5-5', { reasoning: { summary: 'auto' } }).thinking).toEqual({
      type: 'adaptive',
      display: 'summarized',
    });
    const detailed = { reasoning: { effort: 'low', summary: 'detailed' } };
    expect(askResponses('claude-opus-4-7', detailed).thinking).toEqual({
      type: 'adaptive',
      display: 'summarized',
    });
    // It shows them anyway.
    expect(askResponses('claude-opus-4-6', detailed).thinking).toEqual({ type: 'adaptive' });
  });
});

describe('a loop of tools whose thought the caller could not keep', () => {
  const call = { id: 't', type: 'function', function: { name: 'f', arguments: '{}' } };
  const loop = (thought: object) => ({
    tools,
    reasoning_effort: 'high',
    messages: [
      user,
      { role: 'assistant', content: null, tool_calls: [call], ...thought },
      { role: 'tool', tool_call_id: 't', content: 'x' },
    ],
  });
  const kept = {
    content_blocks: [
      { type: 'thinking', thinking: 'Let me see', signature: 'c2ln' },
      { type: 'tool_use', id: 't', name: 'f', input: {} },
    ],
  };

  it.each(['claude-sonnet-4-5', 'claude-opus-4-5'])('goes on without thinking on %s', (model) => {
    const { sent, dropped } = ask(model, loop({}));
    expect(sent).not.toHaveProperty('thinking');
    expect(dropped).toEqual(['reasoning_effort']);
    const bedrock = ask(`us.anthropic.${model}-v1:0`, loop({}), 'bedrock');
    expect(bedrock.sent).not.toHaveProperty('additionalModelRequestFields');
    expect(bedrock.dropped).toEqual(['reasoning_effort']);
  });

  it('goes on thinking where the thought comes back, or the model does not ask for it', () => {
    expect(ask('claude-sonnet-4-5', loop(kept)).sent.thinking).toMatchObject({ type: 'enabled' });
    expect(ask('claude-opus-4-6', loop({})).sent.thinking).toEqual({ type: 'adaptive' });
  });

  it('thinks again in the next turn', () => {
    const { messages, ...rest } = loop({});
    const next = [...messages, { role: 'assistant', content: 'Done' }, user];
    const { sent, dropped } = ask('claude-sonnet-4-5', { ...rest, messages: next });
    expect(sent.thinking).toMatchObject({ type: 'enabled' });
    expect(dropped).toEqual([]);
  });
});

describe('system messages in the middle', () => {
  const system = { role: 'system', content: 'Be brief.' };
  const answer = { role: 'assistant', content: 'Hello.' };
  const later = { role: 'developer', content: 'From now on, in French.' };
  const marked = '<system-reminder>\nFrom now on, in French.\n</system-reminder>';
  const text = { type: 'text', text: marked };

  it('stay behind what the user said, as messages of the system, where they are taken', () => {
    const { sent, dropped } = ask('claude-opus-5-5', {
      messages: [system, user, answer, user, later, answer, later, user],
    });
    expect(sent.system).toEqual([{ type: 'text', text: 'Be brief.' }]);
    expect(sent.messages).toEqual([
      user,
      answer,
      user,
      { role: 'system', content: 'From now on, in French.' },
      answer,
      user,
      { role: 'system', content: 'From now on, in French.' },
    ]);
    expect(dropped).toEqual([]);
  });

  it('are marked texts of the user’s turn where they are not', () => {
    const messages = [system, user, answer, later, user];
    expect(ask('claude-sonnet-5', { messages }).sent.messages).toEqual([
      user,
      answer,
      { role: 'user', content: [text, { type: 'text', text: 'Hi' }] },
    ]);
    const converse = ask('us.anthropic.claude-opus-5-5', { messages }, 'bedrock').sent;
    expect(converse.system).toEqual([{ text: 'Be brief.' }]);
    expect(converse.messages).toEqual([
      { role: 'user', content: [{ text: 'Hi' }] },
      { role: 'assistant', content: [{ text: 'Hello.' }] },
      { role: 'user', content: [{ text: marked }, { text: 'Hi' }] },
    ]);
  });

  it('do not come between a call and its result', () => {
    const call = { id: 't', type: 'function', function: { name: 'f', arguments: '{}' } };
    const messages = [
      user,
      { role: 'assistant', content: null, tool_calls: [call] },
      later,
      { role: 'tool', tool_call_id: 't', content: 'x' },
    ];
    const { sent } = ask('claude-opus-4-7', { messages, tools });
    expect((sent.messages as JsonObject[]).at(-1)).toEqual({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't', content: 'x' }, text],
    });
  });

  it('leave what stands before a signed thought as it was', () => {
    const before = { messages: [system, user], tools };
    const first = ask('claude-opus-5-5', before).sent;
    const thought = { type: 'thinking', thinking: '', signature: boundSignature(first) };
    const said = { type: 'text', text: 'Hello.' };
    const kept = { ...answer, content_blocks: [thought, said] };
    const messages = [system, user, kept, later, user];
    const { sent } = ask('claude-opus-5-5', { ...before, messages });
    expect(refuseMessages(sent)).toBeUndefined();
    const refused = ask('claude-opus-5-5', { ...before, messages: [system, later, ...messages] });
    expect(refuseMessages(refused.sent)).toMatchObject({ status: 400 });
  });

  it('are followed by a request to go on where an answer is begun and may not be', () => {
    const { sent, dropped } = ask('claude-opus-4-6', { messages: [user, answer] });
    expect((sent.messages as JsonValue[])[2]).toMatchObject({ role: 'user' });
    expect(dropped).toEqual(['messages[1]']);
    expect(ask('claude-opus-4-5', { messages: [user, answer] })).toMatchObject({
      sent: { messages: [user, answer] },
      dropped: [],
    });
  });
});

describe('the tools that were offered', () => {
  it('are offered again through Converse where thoughts depend on them', () => {
    const answer = { role: 'assistant', content: 'Hello.' };
    const thought = { type: 'thinking', thinking: 'Well', signature: 'c2ln' };
    const kept = { ...answer, content_blocks: [thought, { type: 'text', text: 'Hello.' }] };
    const asked = { tools, tool_choice: 'none' };
    const bedrock = (messages: object[]) =>
      ask('us.anthropic.claude-opus-5-5', { ...asked, messages }, 'bedrock');
    expect(bedrock([user, kept, user])).toMatchObject({
      sent: { toolConfig: { tools: [{ toolSpec: { name: 'f' } }] } },
      dropped: ['tool_choice'],
    });
    expect(bedrock([user]).sent).not.toHaveProperty('toolConfig');
  });

  it('are offered whole where thoughts are bound to them, and what was kept back is named', () => {
    const tool = (name: string) => ({ type: 'function', name, parameters: { type: 'object' } });
    const kept = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'a' }] };
    const asked = { input: 'Hi', tools: [tool('a'), tool('b')], tool_choice: kept };
    const offered = (model: string) => {
      const context = contextFor(anthropic);
      const call = findTranslation(anthropic, 'createModelResponse');
      const { body, dropped } = call.encode({ model, ...asked } as never, context);
      return {
        names: ((body as JsonObject).tools as JsonObject[]).map(({ name }) => name),
        dropped,
      };
    };
    expect(offered('claude-opus-5-5')).toMatchObject({
      names: ['a', 'b'],
      dropped: expect.arrayContaining(['tool_choice.tools']),
    });
    expect(offered('claude-opus-4-8')).toEqual({ names: ['a'], dropped: ['tools[1]'] });
  });
});

describe('documents', () => {
  const send = (media_type: string, data = 'YSxiCjEsMg==') => {
    const file_data = `data:${media_type};base64,${data}`;
    const content = [{ type: 'input_file', filename: 'd', file_data }];
    const { messages } = askResponses('claude-sonnet-4-6', { input: [{ role: 'user', content }] });
    return (messages as { content: JsonObject[] }[])[0]!.content;
  };

  it.each([
    'text/csv',
    'text/plain',
    'text/html; charset=utf-8',
    'application/json',
    'image/svg+xml',
  ])('of the type %s are plain text, the only kind of text that is taken', (type) => {
    const source = { type: 'text', media_type: 'text/plain', data: 'a,b\n1,2' };
    expect(send(type)).toEqual([{ type: 'document', title: 'd', source }]);
  });

  it('that are PDFs or pictures go as they are', () => {
    expect(send('application/pdf')).toMatchObject([
      { type: 'document', source: { type: 'base64' } },
    ]);
    expect(send('image/png')).toMatchObject([{ type: 'image', source: { type: 'base64' } }]);
  });

  it('that Claude cannot read are refused by their type', () => {
    const office = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
    expect(() => send(office)).toThrow(`holds a document of the type ${office}`);
  });
});
