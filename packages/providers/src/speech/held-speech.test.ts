import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { everywhere, type Fixture, fixtures } from '../../test/fixtures.ts';
import type { WireFormat } from '../contract.ts';
import { listenTo } from '../texts/heard-stream.ts';
import { HeldSpeech } from './held-speech.ts';
import { SpeechStream, speechFormat } from './speech-stream.ts';

const formats = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const;

/** What a stream becomes when so many characters of a text are decided at once, and are changed so. */
function play(
  format: WireFormat,
  bytes: Buffer,
  cuts: readonly number[],
  decided: number,
  change: (text: string) => string = (text) => text,
) {
  const speech = speechFormat(format)!;
  const stream = new SpeechStream(speech);
  const held = new HeldSpeech({ format: speech, listens: () => true, keeps: speech.repeats });
  const out: Buffer[] = [];
  const texts = new Map<string, string>();
  const decide = (isLast: boolean) => {
    for (const voice of held.undecided())
      while (voice.length >= decided || ((isLast || voice.isClosed) && voice.length > 0)) {
        const length = Math.min(decided, voice.length);
        const given = change(voice.text.slice(0, length));
        texts.set(voice.key, (texts.get(voice.key) ?? '') + given);
        voice.decide(length, given);
      }
    out.push(held.take() ?? Buffer.alloc(0));
  };
  const edges = [...new Set([0, ...cuts, bytes.length])].sort((a, b) => a - b);
  for (const [index, start] of edges.entries()) {
    const chunk = bytes.subarray(start, edges[index + 1] ?? start);
    for (const utterance of stream.push(Buffer.from(chunk))) held.add(utterance, 0);
    decide(false);
  }
  for (const utterance of stream.end().utterances) held.add(utterance, 0);
  held.closeAll();
  decide(true);
  return { text: Buffer.concat(out).toString(), texts: Object.fromEntries(texts) };
}

const streamsOf = (format: (typeof formats)[number]): Fixture[] => fixtures(format, 'stream');

describe.each(formats)('an %s stream that is held', (format) => {
  const streams = streamsOf(format);

  it('is the same to the byte where nothing is changed, however it is cut and decided', () => {
    for (const { name, bytes } of streams) {
      const whole = play(format, bytes, [], 1);
      expect(whole.text, name).toBe(bytes.toString());
      expect(play(format, bytes, everywhere(bytes), 7), name).toEqual(whole);
    }
    fc.assert(
      fc.property(
        fc.constantFrom(...streams),
        fc.array(fc.nat(), { maxLength: 20 }),
        fc.integer({ min: 1, max: 40 }),
        ({ bytes }, positions, decided) => {
          const cuts = positions.map((position) => position % bytes.length);
          expect(play(format, bytes, cuts, decided).text).toBe(bytes.toString());
        },
      ),
    );
  });

  it('tells other words wherever it tells them, and no word of the old', () => {
    let changed = 0;
    for (const { name, bytes } of streams)
      for (const decided of [3, 1000]) {
        const before = play(format, bytes, [], decided);
        const { text, texts } = play(format, bytes, [], decided, (said) => said.toUpperCase());
        const again = play(format, Buffer.from(text), [], decided);
        expect(again.texts, name).toEqual(texts);
        for (const said of Object.values(before.texts)) {
          const quoted = JSON.stringify(said).slice(1, -1);
          if (/\p{Ll}.{8,}\p{Ll}/u.test(said)) expect(text.includes(quoted), name).toBe(false);
        }
        if (text !== bytes.toString()) changed++;
      }
    expect(changed).toBeGreaterThan(0);
  });

  it('says to readers of replies what it said before', () => {
    if (format === 'gemini') return;
    for (const { name, bytes } of streams) {
      const heard = (given: Buffer) => {
        const listener = listenTo(format, 1_000_000)!;
        listener.push(given);
        listener.end();
        return listener.text;
      };
      const { text } = play(format, bytes, [], 5, (said) => said.toUpperCase());
      expect(heard(Buffer.from(text)), name).toBe(heard(bytes).toUpperCase());
    }
  });

  it('never throws on garbage, and loses none of it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (given) => {
        const bytes = Buffer.from(given);
        expect(play(format, bytes, [10, 100], 3).text).toBe(bytes.toString());
      }),
    );
  });
});

describe('HeldSpeech', () => {
  const chunk = (delta: object, more: object = {}) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, ...more }] })}\n\n`;

  it('puts words that replace others where these began, over any number of events', () => {
    const stream = ['say a', 'b', 'c', 'd end']
      .map((content) => chunk({ content }, { logprobs: { content: [] } }))
      .join('');
    const { text } = play('openai-chat', Buffer.from(stream), [], 1000, (said) =>
      said.replace('abcd', 'X'),
    );
    const events = [...text.matchAll(/data: (.*)\n\n/g)].map(([, data]) => JSON.parse(data ?? ''));
    expect(events.map(({ choices: [{ delta }] }) => delta.content)).toEqual([
      'say X',
      '',
      '',
      ' end',
    ]);
    // What tells of the old words in another way goes with them.
    expect(events[0].choices[0].logprobs).toBeNull();
  });

  it('changes what is said twice in one event in both places', () => {
    const stream = chunk({
      content: 'secret',
      content_blocks: [{ index: 0, delta: { text: 'secret' } }],
    });
    const { text } = play('openai-chat', Buffer.from(stream), [], 1000, () => 'X');
    expect(text).not.toContain('secret');
    expect(text.match(/"X"/g)).toHaveLength(2);
  });

  it('takes a text that is told again otherwise for a text of its own', () => {
    const event = (type: string, more: object) => `data: ${JSON.stringify({ type, ...more })}\n\n`;
    const stream =
      event('response.output_text.delta', { output_index: 0, content_index: 0, delta: 'fine' }) +
      event('response.output_text.done', { output_index: 0, content_index: 0, text: 'secret' });
    const { text } = play('openai-responses', Buffer.from(stream), [], 1000, (said) =>
      said.replace('secret', 'X'),
    );
    expect(text).toContain('fine');
    expect(text).not.toContain('secret');
  });
});
