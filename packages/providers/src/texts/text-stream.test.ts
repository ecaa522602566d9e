import type { AnsweringFormat, JsonObject } from '@sluice/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { everywhere, type Fixture, fixtures } from '../../test/fixtures.ts';
import { assembleStream } from '../assemble/assemble-stream.ts';
import { listenTo } from './heard-stream.ts';
import { answerFormats } from './text-formats.ts';
import { encodeFurtherEvent, openTextStream, type Segment } from './text-stream.ts';

const formats = Object.keys(answerFormats) as AnsweringFormat[];

/** OpenAI's completions are recorded nowhere: they are told as chunks with texts. */
const completions: Fixture[] = [
  'data: {"id":"c","model":"m","choices":[{"index":0,"text":"Grüße "}]}\n\n',
  'data: {"id":"c","model":"m","choices":[{"index":1,"text":"other"},{"index":0,"text":"aus 東京 👋🏽"}]}\n\n',
].map((told, index) => ({
  name: `completion ${index}`,
  bytes: Buffer.from(`${told}: ping\r\n\r\n${told}data: [DONE]\n\n`),
  json: () => ({}),
  golden: () => '',
}));

const streamsOf = (format: AnsweringFormat): Fixture[] =>
  format === 'openai-completions' ? completions : fixtures(format, 'stream');

/** What a stream comes to when its bytes are cut at these positions. */
function read(format: AnsweringFormat, bytes: Buffer, cuts: readonly number[]) {
  const stream = openTextStream(format)!;
  const heard = listenTo(format, 1_000_000)!;
  const segments: Segment[] = [];
  const edges = [...new Set([0, ...cuts, bytes.length])].sort((a, b) => a - b);
  for (const [index, start] of edges.entries()) {
    const chunk = Buffer.from(bytes.subarray(start, edges[index + 1] ?? start));
    segments.push(...stream.push(chunk));
    heard.push(chunk);
  }
  const { segments: last, separator } = stream.end();
  segments.push(...last);
  expect(heard.end()).toBe(separator);
  const said = segments.flatMap(({ texts, isRepeat, model, toolCalls, isEnd, name }) =>
    texts === undefined && model === undefined && toolCalls === undefined && isEnd === undefined
      ? []
      : [{ parts: texts?.parts, isRepeat, model, toolCalls, isEnd, name }],
  );
  return {
    bytes: Buffer.concat(segments.map((segment) => segment.bytes)).toString(),
    said,
    separator,
    heard: { text: heard.text, isWhole: heard.isWhole, reply: heard.reply() },
    stream,
    segments,
  };
}

describe.each(formats)('the texts of an %s stream', (format) => {
  const streams = streamsOf(format);

  it('are the same at any split of its bytes, which all come out again', () => {
    const compared = (bytes: Buffer, cuts: readonly number[]) => {
      const { stream: _, segments: __, ...facts } = read(format, bytes, cuts);
      return facts;
    };
    for (const { bytes } of streams)
      expect(compared(bytes, everywhere(bytes))).toEqual(compared(bytes, []));
    fc.assert(
      fc.property(
        fc.constantFrom(...streams),
        fc.array(fc.nat(), { maxLength: 40 }),
        ({ bytes }, positions) => {
          const whole = compared(bytes, []);
          expect(whole.bytes).toBe(bytes.toString());
          expect(
            compared(
              bytes,
              positions.map((position) => position % bytes.length),
            ),
          ).toEqual(whole);
        },
      ),
    );
  });

  it('are those of the reply that the stream tells', () => {
    let compared = 0;
    for (const { name, bytes } of streams) {
      const reply = assembleStream(format, bytes);
      if (reply === undefined) continue;
      compared++;
      const { heard } = read(format, bytes, []);
      const { ofReply } = answerFormats[format];
      expect(heard.text, name).toBe(ofReply(reply).joined);
      // Chunks have no terminal event but this one, which some vendors leave out.
      const ends = !format.startsWith('openai-c') || bytes.includes('[DONE]');
      expect(heard.isWhole, name).toBe(ends);
      expect(ofReply(heard.reply).joined, name).toBe(heard.text);
    }
    expect(compared > 0 || format === 'openai-completions').toBe(true);
  });

  it('can be others, wherever the stream tells them, and all else stays', () => {
    let changed = 0;
    for (const { name, bytes } of streams) {
      const { stream, segments, heard } = read(format, bytes, []);
      const rewritten = Buffer.concat(
        segments.map((segment) => {
          const parts = segment.texts?.parts.map((text) => text.toUpperCase()) ?? [];
          return parts.length === 0 ? segment.bytes : stream.rewrite(segment, parts);
        }),
      );
      const again = read(format, rewritten, []);
      expect(again.heard.text, name).toBe(heard.text.toUpperCase());
      const told = JSON.stringify(heard.text).slice(1, -1);
      if (told.length > 8 && /\p{Ll}/u.test(told))
        expect(rewritten.toString().includes(told), name).toBe(false);
      expect(withoutTexts(again.segments), name).toEqual(withoutTexts(segments));
      // Formats that tell a text again at the end tell the new one.
      for (const { texts } of again.segments)
        expect(texts?.joined.toUpperCase(), name).toBe(texts?.joined);
      if (heard.text.toUpperCase() !== heard.text) changed++;
    }
    expect(changed).toBeGreaterThan(0);
  });

  it('say nothing where the bytes are garbage, and never throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (given) => {
        const { heard } = read(format, Buffer.from(given), [10, 100]);
        expect(heard.isWhole).toBe(false);
      }),
    );
  });
});

/** Events with their texts taken out. */
function withoutTexts(segments: readonly Segment[]): JsonObject[] {
  return segments.flatMap(({ texts, name }) =>
    texts === undefined ? [] : [{ name, event: texts.replace(texts.parts.map(() => '')) }],
  );
}

describe('openTextStream', () => {
  it('has no texts where no hook sees any', () => {
    expect(openTextStream('openai-images')).toBeUndefined();
    expect(openTextStream('openai-embeddings')).toBeUndefined();
  });

  it('tells that an event was too large to be read', () => {
    const stream = openTextStream('openai-chat')!;
    expect(stream.push(Buffer.from(`data: "${'x'.repeat(2 * 1024 * 1024)}`))).toEqual([]);
    expect(stream.hasLost).toBe(true);
    expect(stream.push(Buffer.from('"\n\ndata: [DONE]\n\n'))).toMatchObject([{ isEnd: true }]);
  });

  it.each([
    ['data: [DONE]', '\n\n'],
    ['data: [DONE]\n', '\n'],
    ['data: [DONE]\r\n', '\n'],
    ['data: [DONE]\r\n\r\n', ''],
  ])('says what must stand between %j and a further event', (last, separator) => {
    const stream = openTextStream('openai-chat')!;
    const pushed = stream.push(Buffer.from(last));
    const { segments, separator: said } = stream.end();
    expect(said).toBe(separator);
    expect([...pushed, ...segments]).toMatchObject([{ isEnd: true }]);
  });
});

describe('encodeFurtherEvent', () => {
  it('names the event where a format names its own', () => {
    expect(encodeFurtherEvent('openai-chat', 'hook_results', { a: 1 }).toString()).toBe(
      'data: {"a":1}\n\n',
    );
    expect(encodeFurtherEvent('anthropic-messages', 'hook_results', { a: 1 }).toString()).toBe(
      'event: hook_results\ndata: {"a":1}\n\n',
    );
  });
});
