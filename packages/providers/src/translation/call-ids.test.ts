import type { JsonObject } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { contextFor } from '../../test/fixtures.ts';
import { findProvider } from '../catalog.ts';
import { findTranslation } from './find-translation.ts';

const foreign = ['functions.f:0', `chatcmpl-tool-${'a'.repeat(60)}`, ''];

/** Two parallel calls and their results, as callers of chat send them back. */
function chatTurns(first: string, second: string): JsonObject {
  const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
  return {
    model: 'm',
    messages: [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: null, tool_calls: [call(first), call(second)] },
      { role: 'tool', tool_call_id: first, content: '1' },
      { role: 'tool', tool_call_id: second, content: '2' },
    ],
  };
}

function messagesTurns(first: string, second: string): JsonObject {
  return {
    model: 'claude-sonnet-4-5',
    max_tokens: 9,
    messages: [
      { role: 'user', content: 'x' },
      {
        role: 'assistant',
        content: [first, second].map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })),
      },
      {
        role: 'user',
        content: [first, second].map((tool_use_id) => ({
          type: 'tool_result',
          tool_use_id,
          content: tool_use_id,
        })),
      },
    ],
  };
}

function responsesTurns(first: string, second: string): JsonObject {
  const call = (call_id: string) => ({ type: 'function_call', call_id, name: 'f', arguments: '' });
  const result = (call_id: string) => ({ type: 'function_call_output', call_id, output: 'x' });
  return {
    model: 'm',
    input: [call(first), call(second), result(first), result(second)],
  };
}

const rules = [
  ['openai', 'chatComplete', chatTurns, /^[\w-]{1,40}$/],
  ['azure-openai', 'chatComplete', chatTurns, /^[\w-]{1,40}$/],
  ['mistral-ai', 'chatComplete', chatTurns, /^[A-Za-z0-9]{9}$/],
  ['openrouter', 'chatComplete', chatTurns, /^[\w-]{1,40}$/],
  ['openai', 'createModelResponse', responsesTurns, /^[\w-]{1,64}$/],
  ['anthropic', 'messages', messagesTurns, /^[\w-]{1,64}$/],
  ['anthropic', 'chatComplete', chatTurns, /^[\w-]{1,64}$/],
  ['bedrock', 'chatComplete', chatTurns, /^[\w-]{1,64}$/],
  ['mistral-ai', 'messages', messagesTurns, /^[A-Za-z0-9]{9}$/],
] as const;

/** All ids of the body, calls first. */
function idsIn(body: JsonObject | undefined): string[] {
  const found: string[] = [];
  JSON.stringify(body, (key, value) => {
    if (key === 'toolUseId' || key === 'tool_use_id' || key === 'tool_call_id' || key === 'call_id')
      found.push(value);
    else if (key === 'id' && typeof value === 'string') found.push(value);
    return value;
  });
  return found;
}

describe('ids of tool calls that another provider made', () => {
  it.each(rules)(
    'are ids that %s takes in %s, alike for call and result',
    (id, endpoint, turns, rule) => {
      const provider = findProvider(id)!;
      const encode = (first: string, second: string) => {
        const request = turns(first, second);
        const context = contextFor(provider, true, { model: String(request.model), request });
        const { body } = findTranslation(provider, endpoint, context).encode(request, context);
        return body ?? request;
      };
      for (const [index, first] of foreign.entries()) {
        const second = foreign[(index + 1) % foreign.length] as string;
        const ids = idsIn(encode(first, second));
        expect(ids).toHaveLength(4);
        for (const made of ids) expect(made).toMatch(rule);
        expect(ids.slice(2)).toEqual(ids.slice(0, 2));
        expect(ids[0]).not.toBe(ids[1]);
        // The next turn finds them again: nothing of the prompt's beginning changes.
        expect(idsIn(encode(first, second))).toEqual(ids);
      }
      const [a, b, c, d] = idsIn(encode('', ''));
      expect([c, d]).toEqual([a, b]);
      expect(a).not.toBe(b);
    },
  );

  it('are left alone where they are good, byte for byte', () => {
    const provider = findProvider('openai')!;
    const request = chatTurns('call_1', 'call_2');
    const { body } = findTranslation(provider, 'chatComplete').encode(
      request,
      contextFor(provider, true, { request }),
    );
    expect(body).toBeUndefined();
  });
});
