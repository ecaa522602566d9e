import type { JsonObject } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { contextFor } from '../../../test/fixtures.ts';
import { findProvider } from '../../catalog.ts';
import { findTranslation } from '../../translation/find-translation.ts';

const chatOnly = findProvider('together-ai')!;

function ask(body: JsonObject) {
  const asked: JsonObject = { model: 'm', max_tokens: 100, ...body };
  const context = contextFor(chatOnly, true, { model: 'm', request: asked });
  return findTranslation(chatOnly, 'messages', context).encode(asked, context);
}

const tool = (name: string): JsonObject => ({ name, input_schema: { type: 'object' } });
const user = (content: string): JsonObject => ({ role: 'user', content });
const change = (type: string, changed: JsonObject): JsonObject => ({
  role: 'system',
  content: [{ type, tool: changed }],
});
const reference = (name: string): JsonObject => ({ type: 'tool_reference', name });

function namesOf(body: JsonObject | undefined): unknown {
  const tools = body?.tools as { function: { name: string } }[] | undefined;
  return tools?.map((entry) => entry.function.name);
}

describe('tools that come and go in a conversation', () => {
  it('are those in force at its end', () => {
    const { body, dropped } = ask({
      tools: [tool('a'), tool('b')],
      messages: [
        user('x'),
        change('tool_addition', { type: 'tool_definition', definition: tool('c') }),
        change('tool_removal', reference('a')),
        user('y'),
      ],
    });
    expect(namesOf(body)).toEqual(['b', 'c']);
    expect(body?.messages).toEqual([user('x'), user('y')]);
    expect(dropped).toEqual([]);
  });

  it('may come back by their names, and are not made up from unknown ones', () => {
    const { body, dropped } = ask({
      tools: [tool('a')],
      messages: [
        change('tool_removal', reference('a')),
        change('tool_addition', reference('a')),
        change('tool_addition', reference('unknown')),
        user('y'),
      ],
    });
    expect(namesOf(body)).toEqual(['a']);
    expect(dropped).toEqual(['messages[2].content[0]']);
  });

  it('are found where a compaction tells of them', () => {
    const tool_changes = [
      { type: 'tool_addition', tool: { type: 'tool_definition', definition: tool('c') } },
    ];
    const { body } = ask({
      messages: [
        { role: 'assistant', content: [{ type: 'compaction', content: 'So far.', tool_changes }] },
        user('y'),
      ],
    });
    expect(namesOf(body)).toEqual(['c']);
  });

  it('are named where they say nothing, and refused where a tool is none', () => {
    const changed = (tool: JsonObject[string]) => ({
      messages: [user('x'), { role: 'system', content: [{ type: 'tool_addition', tool }] }],
    });
    for (const bad of [null, 7, 'x', []])
      expect(ask(changed(bad)).dropped).toEqual(['messages[1].content[0]']);
    expect(() => ask(changed({ type: 'tool_definition' }))).toThrow(
      'body.messages[1].content[0].tool.definition must be an object',
    );
  });
});

describe('a compaction', () => {
  it('stands for all that was said before it', () => {
    const { body, dropped } = ask({
      system: 'Be brief.',
      messages: [
        user('a long story'),
        { role: 'assistant', content: 'of old' },
        user('and more'),
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'before' },
            { type: 'compaction', content: 'A story was told.' },
            { type: 'text', text: 'after' },
          ],
        },
        user('What was it?'),
      ],
    });
    expect(body?.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      user('A story was told.'),
      { role: 'assistant', content: 'after' },
      user('What was it?'),
    ]);
    expect(dropped).toEqual([]);
  });

  it('that cannot be read takes nothing away', () => {
    const { body, dropped } = ask({
      messages: [
        user('a long story'),
        { role: 'assistant', content: [{ type: 'compaction', content: null }] },
        user('What was it?'),
      ],
    });
    expect(JSON.stringify(body?.messages)).toContain('a long story');
    expect(dropped).toHaveLength(1);
  });
});

describe('a system message for one turn', () => {
  it('is not shown once the user has said more', () => {
    const once = { role: 'system', content: 'Now in French.', clear_at: 'next_user_message' };
    const said = (messages: JsonObject[]) => JSON.stringify(ask({ messages }).body?.messages);
    expect(said([user('x'), once])).toContain('French');
    expect(said([user('x'), once, user('y')])).not.toContain('French');
    expect(said([user('x'), { ...once, clear_at: 'never' }, user('y')])).toContain('French');
  });

  it('that changes the effort is named', () => {
    const { dropped } = ask({
      messages: [user('x'), { role: 'system', output_config: { effort: 'low' } }],
    });
    expect(dropped).toEqual(['messages[1].output_config']);
  });
});
