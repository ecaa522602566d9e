import type { ChatStreamEvent, JsonObject } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { OpenAiChatStreamDecoder } from './decode-stream.ts';

/** What is told of the calls in these fragments of one answer. */
function told(...fragments: JsonObject[]): ChatStreamEvent[] {
  const decoder = new OpenAiChatStreamDecoder();
  const chunks: JsonObject[] = fragments.map((call) => ({ delta: { tool_calls: [call] } }));
  return [...chunks, { delta: {}, finish_reason: 'tool_calls' }]
    .flatMap((choice) =>
      decoder.decode({
        name: '',
        data: JSON.stringify({ id: 'r', choices: [{ index: 0, ...choice }] }),
      }),
    )
    .filter(({ type }) => type.startsWith('tool-call'));
}

const start = (id: string, name: string, call = 0) => ({
  type: 'tool-call-start',
  choice: 0,
  block: call + 1,
  call,
  id,
  name,
});
const delta = (args: string, call = 0) => ({
  type: 'tool-call-delta',
  choice: 0,
  block: call + 1,
  call,
  arguments: args,
});

describe('the calls of a streamed answer', () => {
  it.each<JsonObject>([{ index: 0 }, {}])(
    'wait for a name that comes after the id, with %j',
    (place) => {
      expect(
        told(
          { ...place, id: 'a' },
          { ...place, function: { name: 'f' } },
          { ...place, function: { arguments: '{' } },
          { ...place, function: { arguments: '}' } },
        ),
      ).toEqual([start('a', 'f'), delta('{'), delta('}')]);
    },
  );

  it('keep the arguments that come before the name', () => {
    expect(
      told(
        { index: 0, id: 'a', function: { arguments: '{"a":' } },
        { index: 0, function: { name: 'f', arguments: '1}' } },
      ),
    ).toEqual([start('a', 'f'), delta('{"a":1}')]);
  });

  it('take an id that comes after the name', () => {
    expect(
      told(
        { index: 0, function: { name: 'f' } },
        { index: 0, id: 'a', function: { arguments: '{}' } },
      ),
    ).toEqual([start('a', 'f'), delta('{}')]);
  });

  it('of custom tools are told as those of functions with one string', () => {
    const custom = (input: string, more: JsonObject = {}) => ({
      index: 0,
      custom: { input, ...more },
    });
    const events = told(
      { ...custom('', { name: 'f' }), id: 'a', type: 'custom' },
      custom('a "b"'),
      custom('\n\ud834'),
      custom('\udd1e'),
    );
    expect(events[0]).toEqual(start('a', 'f'));
    const args = events.slice(1).map((event) => (event as { arguments: string }).arguments);
    expect(JSON.parse(args.join(''))).toEqual({ input: 'a "b"\n\ud834\udd1e' });
  });

  it('get an id of their own where none ever comes', () => {
    expect(
      told(
        { index: 0, function: { name: 'f', arguments: '{}' } },
        { index: 1, function: { name: 'g' } },
      ),
    ).toEqual([start('call_r_0', 'f'), delta('{}'), start('call_r_1', 'g', 1)]);
  });
});
