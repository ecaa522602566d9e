import type { ChatStreamEvent } from '@sluice/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OpenAiChatStreamDecoder } from './decode-stream.ts';
import { RepeatedChunk } from './repeated-chunk.ts';

const chunk = (delta: object, more: object = {}) =>
  JSON.stringify({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: null }],
    ...more,
  });
const said = (text: string, more: object = {}) => chunk({ content: text }, more);

/** What each chunk comes to where none is ever taken for a repeated one: blanks keep it from being one. */
function readEach(chunks: readonly string[]): ChatStreamEvent[] {
  const decoder = new OpenAiChatStreamDecoder();
  return chunks.flatMap((data, index) =>
    decoder.decode({ name: '', data: `${' '.repeat(index % 2)}${data}` }),
  );
}

function read(chunks: readonly string[]): ChatStreamEvent[] {
  const decoder = new OpenAiChatStreamDecoder();
  return chunks.flatMap((data) => decoder.decode({ name: '', data }));
}

const words = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.constant('"content":"'));
const pieces = fc.oneof(
  { weight: 8, arbitrary: words.map((text) => said(text)) },
  {
    weight: 3,
    arbitrary: words.map((text) => said(text, { obfuscation: text.length.toString(36) })),
  },
  words.map((text) => chunk({ content: text, reasoning_content: 'hm' })),
  words.map((text) => chunk({ reasoning_details: [{ type: 'reasoning.text', text, index: 0 }] })),
  words.map((text) => said(text, { model: 'other' })),
  words.map((text) => said(text, { usage: { prompt_tokens: 1, completion_tokens: 2 } })),
  words.map((text) => said(text, { citations: ['https://a.example'] })),
  words.map((text) =>
    JSON.stringify({ choices: [{ index: 1, delta: { content: text }, finish_reason: null }] }),
  ),
  fc.constant(
    chunk({ tool_calls: [{ index: 0, id: 't', function: { name: 'f', arguments: '{' } }] }),
  ),
  fc.constant(JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })),
  fc.constant(said('x').replace('"x"', '"\u0001"')),
);

describe('RepeatedChunk', () => {
  it('changes nothing of what a stream says', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (chunks) => {
        expect(read(chunks)).toEqual(readEach(chunks));
      }),
      { numRuns: 500 },
    );
  });

  it.each<[string, string, string | undefined]>([
    ['a text', said('more'), 'more'],
    ['one with padding', said('more', { obfuscation: 'aB3' }), 'more'],
    ['what is escaped', said('a"b'), undefined],
    ['an empty text', said(''), undefined],
    ['another model', said('more', { model: 'n' }), undefined],
    ['an end', said('more').replace('null', '"stop"'), undefined],
    ['half a chunk', said('more').slice(0, -3), undefined],
  ])('knows %s', (_, data, text) => {
    const repeated = new RepeatedChunk();
    repeated.learn(said('some'), 'some');
    expect(repeated.textOf(data)).toBe(text);
  });
});
