import { describe, expect, it } from 'vitest';
import { AnthropicStreamDecoder } from './decode-stream.ts';

const decode = (data: string) =>
  new AnthropicStreamDecoder().decode({ name: 'content_block_delta', data });
const delta = (text: string, index = '0') =>
  `{"type":"content_block_delta","index":${index},"delta":{"type":"text_delta","text":${text}}}`;

/** The same JSON, spelled so that only a parser reads it. */
const respelled = (data: string) => ` ${data.replaceAll('":', '" : ')}`;

describe('a text delta', () => {
  it.each([
    '""',
    '" word"',
    '"a:b,c{d}[e]"',
    '"é 😀 \u2028 \u0085"',
    '"\\u00e9 \\n \\" \\\\ \\ud800"',
    '"\\"}}"',
    '"a\\\\"',
  ])('of %s is the same however the event is spelled', (text) => {
    const expected = [
      { type: 'text-delta', choice: 0, block: 12, text: JSON.parse(text) as string },
    ];
    for (const data of [delta(text, '12'), `${delta(text, '12').slice(0, -1)}    }`])
      expect([decode(data), decode(respelled(data))]).toEqual([expected, expected]);
  });

  it.each([
    delta('"a'),
    delta('"a" "b"'),
    delta('"a","text":5'),
    delta('"a\nb"'),
    delta('"a\u0000"'),
    delta('"a"', '00'),
    delta('"a"', '1e1'),
    `${delta('"a"')}}`,
    `${delta('"a"')} x`,
  ])('that is no plain one, %j, is judged by the parser', (data) => {
    let parsed: { index: number; delta: { text: unknown } } | undefined;
    try {
      parsed = JSON.parse(data) as typeof parsed;
    } catch {
      // Then it is a fault.
    }
    const { text } = parsed?.delta ?? {};
    expect(decode(data)).toMatchObject(
      parsed === undefined
        ? [{ type: 'fault' }]
        : [{ block: parsed.index, text: typeof text === 'string' ? text : '' }],
    );
  });
});
