import type { Endpoint, JsonObject } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { contextFor } from '../../test/fixtures.ts';
import { findProvider } from '../catalog.ts';
import { findTranslation } from './find-translation.ts';

/** What a native call is sent with; `undefined` = the caller's bytes. */
function sent(id: string, endpoint: Endpoint, body: JsonObject, hasCustomHost = false) {
  const provider = findProvider(id)!;
  const call = findTranslation(provider, endpoint);
  expect(call.mode).toBe('native');
  const { body: changed, dropped } = call.encode(
    body,
    contextFor(provider, true, { hasCustomHost }),
  );
  return { body: changed, dropped };
}

const user = { role: 'user', content: 'q' };
const call = { type: 'tool_use', id: 'call_1', name: 'f', input: {} };
const result = {
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'r' }],
};
const own = { type: 'thinking', thinking: 'mine', signature: 'EqQBCgIYAg==' };
const answer = (...content: JsonObject[]) => ({ role: 'assistant', content });
const messages = (...list: JsonObject[]) => ({ model: 'm', max_tokens: 9, messages: list });

describe.each(['messages', 'messagesCountTokens'] as const)(
  'Anthropic, natively: %s',
  (endpoint) => {
    it.each([
      ['text', answer({ type: 'text', text: 'a' })],
      ['a string', { role: 'assistant', content: 'a' }],
      ['its own thought', answer(own, { type: 'redacted_thinking', data: 'Eu0=' }, call)],
      ['a thought that is not shown', answer({ ...own, thinking: '' }, call)],
      ['the user’s words', { role: 'user', content: [{ type: 'thinking', signature: '' }] }],
      ['what is no message', null as unknown as JsonObject],
    ])('leaves %s alone', (_name, message) => {
      const { body, dropped } = sent('anthropic', endpoint, messages(user, message, user));
      expect([body, dropped]).toEqual([undefined, []]);
    });

    it.each([
      'openai:encrypted:gAAAAA',
      'google:call:CiQB',
      'google:thought:CiQB',
      'chat:detail:{"type":"reasoning.text"}',
      'sluice:signature:x',
      '',
    ])('is not shown a thought with the signature %j', (signature) => {
      const foreign = { type: 'thinking', thinking: 'theirs', signature };
      const { body, dropped } = sent(
        'anthropic',
        endpoint,
        messages(user, answer(foreign, call), result),
      );
      expect(body?.messages).toEqual([user, answer(call), result]);
      expect(dropped).toEqual(['messages[1].thinking']);
    });

    it('is shown neither thoughts without a signature nor redacted ones of others', () => {
      const turn = answer(
        { type: 'thinking', thinking: 'theirs' },
        { type: 'redacted_thinking', data: 'chat:detail:{}' },
        { type: 'text', text: 'a' },
      );
      const { body, dropped } = sent('anthropic', endpoint, messages(user, turn, user));
      expect(body?.messages).toEqual([user, answer({ type: 'text', text: 'a' }), user]);
      expect(dropped).toEqual(['messages[1].thinking', 'messages[1].redacted_thinking']);
    });

    it('is not shown a turn of which nothing is left', () => {
      const turn = answer({ type: 'thinking', thinking: 'theirs', signature: '' });
      expect(sent('anthropic', endpoint, messages(user, turn, user)).body?.messages).toEqual([
        user,
        user,
      ]);
    });

    it('is not shown signatures and pages that it does not know on text and calls', () => {
      const page = { type: 'web_search_result_location', url: 'u', encrypted_index: '' };
      const turn = answer(
        { type: 'text', text: 'a', thought_signature: 's', citations: [page] },
        { ...call, thought_signature: 's' },
      );
      const { body, dropped } = sent('anthropic', endpoint, messages(user, turn, result));
      expect(body?.messages).toEqual([user, answer({ type: 'text', text: 'a' }, call), result]);
      expect(dropped).toEqual([
        'messages[1].thought_signature',
        'messages[1].citations',
        'messages[1].thought_signature',
      ]);
    });

    it('goes on without a budget to think where the open turn lost its thought', () => {
      const foreign = { type: 'thinking', thinking: 'theirs', signature: '' };
      const request = {
        ...messages(user, answer(foreign, call), result),
        thinking: { type: 'enabled', budget_tokens: 2048 },
        context_management: { edits: [{ type: 'clear_thinking_20251015' }, { type: 'other' }] },
      };
      const { body, dropped } = sent('anthropic', endpoint, request);
      expect(body?.thinking).toBeUndefined();
      expect(body?.context_management).toEqual({ edits: [{ type: 'other' }] });
      expect(dropped).toEqual(['messages[1].thinking', 'thinking']);
    });

    it('thinks as asked where the turn that lost its thought is over, or the model decides', () => {
      const foreign = { type: 'thinking', thinking: 'theirs', signature: '' };
      const turns = [user, answer(foreign, call), result];
      const enabled = { type: 'enabled', budget_tokens: 2048 };
      for (const [more, thinking] of [
        [[answer({ type: 'text', text: 'a' }), user], enabled],
        [[user], enabled],
        [[], { type: 'adaptive' }],
      ] as const)
        expect(
          sent('anthropic', endpoint, { ...messages(...turns, ...more), thinking }).body?.thinking,
        ).toEqual(thinking);
    });
  },
);

describe('OpenAI, natively: responses', () => {
  const reasoning = (item: JsonObject) => ({ type: 'reasoning', summary: [], ...item });
  const said = { role: 'user', content: 'q' };

  it.each<JsonObject>([
    { id: 'rs_0a1b2c', encrypted_content: 'gAAAAABo' },
    { id: 'rs_68af4030592c8193', encrypted_content: null },
    {},
  ])('leaves its own thought alone: %j', (item) => {
    const request = { model: 'm', input: [said, reasoning(item)] };
    expect(sent('openai', 'createModelResponse', request)).toEqual({
      body: undefined,
      dropped: [],
    });
  });

  it.each<JsonObject>([
    { encrypted_content: 'sluice:signature:EqQB' },
    { encrypted_content: 'sluice:part:CiQB' },
    { encrypted_content: 'sluice:redacted:Eu0=' },
    { id: 'rs_msg_01_0' },
  ])('is not shown the thought of another: %j', (item) => {
    const request = { model: 'm', input: [said, reasoning(item), said] };
    const { body, dropped } = sent('openai', 'createModelResponse', request);
    expect(body?.input).toEqual([said, said]);
    expect(dropped).toEqual(['input[1]']);
  });
});

describe('OpenAI, natively: chat', () => {
  const chatCall = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
  const signed = { ...chatCall, extra_content: { google: { thought_signature: 's' } } };
  const turn = (more: JsonObject) => ({ role: 'assistant', content: 'a', ...more });
  const request = (...list: JsonObject[]) => ({ model: 'm', messages: list });

  it('leaves plain turns alone', () => {
    const plain = request(user, turn({ tool_calls: [chatCall], refusal: null }), user);
    expect(sent('openai', 'chatComplete', plain)).toEqual({ body: undefined, dropped: [] });
  });

  it('is not shown blocks and signatures that this gateway told of', () => {
    const told = turn({
      content_blocks: [{ type: 'thinking', thinking: 't', signature: 's' }],
      tool_calls: [
        { ...chatCall, function: { ...chatCall.function, thought_signature: 's' } },
        chatCall,
      ],
    });
    const { body, dropped } = sent('openai', 'chatComplete', request(user, told));
    expect(body?.messages).toEqual([user, turn({ tool_calls: [chatCall, chatCall] })]);
    expect(dropped).toEqual([
      'messages[1].content_blocks',
      'messages[1].tool_calls[0].function.thought_signature',
    ]);
  });

  it('is not shown Google’s signatures, unless Google may be at the address', () => {
    const both = { google: { thought_signature: 's' }, other: 1 };
    const told = turn({ extra_content: both, tool_calls: [signed] });
    const { body, dropped } = sent('openai', 'chatComplete', request(user, told));
    expect(body?.messages).toEqual([
      user,
      turn({ extra_content: { other: 1 }, tool_calls: [chatCall] }),
    ]);
    expect(dropped).toEqual([
      'messages[1].extra_content.google',
      'messages[1].tool_calls[0].extra_content.google',
    ]);
    expect(sent('openai', 'chatComplete', request(user, told), true).body).toBeUndefined();
  });
});
