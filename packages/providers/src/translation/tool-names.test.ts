import type { JsonObject } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { contextFor, everywhere, okHead, play } from '../../test/fixtures.ts';
import { findProvider } from '../catalog.ts';
import { parseSseEvents } from '../framing/sse.ts';
import { findTranslation } from './find-translation.ts';

const chatOnly = findProvider('cometapi')!;
const long = `mcp__a-server-with-a-long-name__${'search_'.repeat(12)}`;
const twin = `${long}too`;
const dotted = 'files.read file';
const names = [long, twin, dotted, 'short'];

const request: JsonObject = {
  model: 'm',
  max_tokens: 9,
  tools: names.map((name) => ({ name, input_schema: { type: 'object' } })),
  tool_choice: { type: 'tool', name: long },
  messages: [
    { role: 'user', content: 'x' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: long, input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'x' }] },
  ],
};

const context = contextFor(chatOnly, true, { model: 'm', request });
const translation = findTranslation(chatOnly, 'messages');

function shownNames(): string[] {
  const { body } = translation.encode(request, context);
  const tools = (body?.tools ?? []) as { function: { name: string } }[];
  return tools.map((tool) => tool.function.name);
}

describe('names of tools that a provider would refuse', () => {
  it('are shortened, each to a name of its own, in tools, choice and history alike', () => {
    const shown = shownNames();
    for (const name of shown) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(new Set(shown).size).toBe(names.length);
    expect(shown[3]).toBe('short');
    const { body, dropped } = translation.encode(request, context);
    expect(body?.tool_choice).toMatchObject({ function: { name: shown[0] } });
    expect(body?.messages).toMatchObject([
      {},
      { tool_calls: [{ function: { name: shown[0] } }] },
      {},
    ]);
    expect(dropped).toEqual([]);
    expect(shownNames()).toEqual(shown);
  });

  it('are the caller’s again in a reply', () => {
    const calls = shownNames().map((name, index) => ({
      id: `c${index}`,
      function: { name, arguments: '{}' },
    }));
    const reply = { choices: [{ message: { tool_calls: calls }, finish_reason: 'tool_calls' }] };
    const decoded = translation.decode(Buffer.from(JSON.stringify(reply)), context, okHead);
    expect(JSON.parse(String(decoded.body)).content).toMatchObject(
      names.map((name) => ({ type: 'tool_use', name })),
    );
  });

  it('are the caller’s again in a stream', () => {
    const chunks = shownNames().map((name, index) => {
      const call = { index, id: `c${index}`, function: { name, arguments: '{}' } };
      return { choices: [{ index: 0, delta: { tool_calls: [call] } }] };
    });
    const end = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
    const bytes = Buffer.from(
      `${[...chunks, end].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`,
    );
    const reader = translation.openStream(context, { ...request, stream: true });
    const { bytes: out } = play(reader, bytes, everywhere(bytes));
    const told = [...parseSseEvents(out)]
      .map(({ data }) => JSON.parse(data))
      .filter(({ type }) => type === 'content_block_start')
      .map(({ content_block: block }) => block.name);
    expect(told).toEqual(names);
  });
});

describe('names of tools that come in the middle of a conversation', () => {
  const user = { role: 'user', content: 'x' };
  const fn = (name: string) => ({ type: 'function', name, parameters: { type: 'object' } });
  const definition = { name: long, input_schema: { type: 'object' } };
  const added = { type: 'tool_addition', tool: { type: 'tool_definition', definition } };

  it.each([
    ['createModelResponse', { input: [{ type: 'additional_tools', tools: [fn(long)] }, user] }],
    ['createModelResponse', { input: [user, { type: 'tool_search_output', tools: [fn(long)] }] }],
    [
      'messages',
      {
        max_tokens: 9,
        tools: [{ name: 'short', input_schema: { type: 'object' } }],
        messages: [user, { role: 'system', content: [added] }],
      },
    ],
    [
      'messages',
      {
        max_tokens: 9,
        messages: [
          user,
          {
            role: 'assistant',
            content: [{ type: 'compaction', content: 's', tool_changes: [added] }],
          },
          user,
        ],
      },
    ],
    ['chatComplete', { messages: [user], functions: [{ name: long, parameters: {} }] }],
  ] as const)('are the caller’s again in a reply: %s, %j', (endpoint, body) => {
    const provider = endpoint === 'chatComplete' ? findProvider('google')! : chatOnly;
    const asked = { model: 'm', ...body } as unknown as JsonObject;
    const at = contextFor(provider, true, { model: 'm', request: asked });
    const call = findTranslation(provider, endpoint, at);
    const [, shown = ''] =
      /"name":"(mcp__[^"]*)"/.exec(JSON.stringify(call.encode(asked, at).body)) ?? [];
    expect([shown.length <= 64, shown === long]).toEqual([true, false]);
    const calling =
      endpoint === 'chatComplete'
        ? {
            candidates: [
              { content: { role: 'model', parts: [{ functionCall: { name: shown, args: {} } }] } },
            ],
          }
        : {
            choices: [
              {
                message: { tool_calls: [{ id: 'c', function: { name: shown, arguments: '{}' } }] },
              },
            ],
          };
    const { body: told } = call.decode(Buffer.from(JSON.stringify(calling)), at, okHead);
    expect(JSON.parse(String(told))).toMatchObject(
      endpoint === 'messages'
        ? { content: [{ name: long }] }
        : endpoint === 'chatComplete'
          ? { choices: [{ message: { function_call: { name: long } } }] }
          : { output: [{ name: long }] },
    );
  });
});
