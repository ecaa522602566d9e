import type { JsonObject } from '@sluice/providers';
import { describe, expect, it } from 'vitest';
import { exampleCacheRequest, exampleSemanticAsk } from '../../../test/cache-request.ts';
import type { CacheRequest } from '../request.ts';
import { readQuestion } from './question.ts';

const read = (askedJson: JsonObject, endpoint: CacheRequest['endpoint'] = 'chatComplete') =>
  readQuestion(exampleCacheRequest({ endpoint, semantic: asking(askedJson) }));
const asking = (askedJson: JsonObject) =>
  exampleSemanticAsk({ askedJson, bodyBytes: JSON.stringify(askedJson).length });
const user = (content: JsonObject['content'] = 'Hi') => ({
  role: 'user',
  content: content ?? null,
});
const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } };

describe('the question of a request', () => {
  it('is what the user says last; all around it stays as it is', () => {
    const before = [{ role: 'system', content: 'Be brief.' }, user('One?'), { role: 'assistant' }];
    expect(read({ model: 'm', tools: [], messages: [...before, user('Two?')] })).toEqual({
      text: 'Two?',
      rest: { model: 'm', tools: [], messages: [...before, { role: 'user', content: null }] },
    });
    expect(read({ messages: [user('Two?'), { role: 'tool', content: 'x' }] })).toMatchObject({
      text: 'Two?',
      rest: { messages: [{ content: null }, { content: 'x' }] },
    });
  });

  it('has pictures beside it that are none of it', () => {
    expect(read({ messages: [user([{ type: 'text', text: 'What?' }, picture])] })).toEqual({
      text: 'What?',
      rest: { messages: [user([{ type: 'text', text: null }, picture])] },
    });
  });

  it('is the prompt of a completion', () => {
    expect(read({ prompt: 'Once', suffix: 'end' }, 'complete')).toEqual({
      text: 'Once',
      rest: { prompt: null, suffix: 'end' },
    });
  });

  it.each<[string, string, JsonObject, CacheRequest['endpoint']?]>([
    ['another endpoint', 'endpoint', { messages: [user()] }, 'messages'],
    ['nothing of a user', 'no_text', { messages: [{ role: 'system', content: 'Hi' }] }],
    ['no messages', 'no_text', { messages: 'Hi' }],
    ['an empty text', 'no_text', { messages: [user(' ')] }],
    ['no text', 'no_text', { messages: [user([picture])] }],
    [
      'two texts',
      'no_text',
      {
        messages: [
          user([
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ]),
        ],
      },
    ],
    ['prompts in a list', 'no_text', { prompt: ['a', 'b'] }, 'complete'],
    ['five messages', 'too_many_messages', { messages: Array.from({ length: 5 }, () => user()) }],
    ['more than is read', 'too_long', { messages: [user('word '.repeat(9000))] }],
    ['much more', 'too_long', { messages: [user('word'.repeat(1_000_000))] }],
  ])('is not there with %s', (_what, why, json, endpoint) => {
    expect(read(json, endpoint)).toBe(why);
  });
});
