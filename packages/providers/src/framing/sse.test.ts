import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  endOfLastEvent,
  parseSseEvents,
  type SseEvent,
  SseEventReader,
  SseFramer,
  type SseFramerOptions,
  sseEventBytesMax,
} from './sse.ts';

function readAll(chunks: Buffer[], options?: SseFramerOptions): SseEvent[] {
  const framer = new SseFramer(options);
  const events: SseEvent[] = [];
  for (const chunk of chunks) {
    const whole = framer.push(chunk);
    if (whole !== undefined) events.push(...parseSseEvents(whole));
  }
  const rest = framer.end();
  if (rest !== undefined) events.push(...parseSseEvents(rest));
  return events;
}

function readByLines(chunks: Buffer[]): SseEvent[] {
  const reader = new SseEventReader(sseEventBytesMax);
  return [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.end()];
}

function cutAt(bytes: Buffer, cuts: number[]): Buffer[] {
  const edges = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort(
    (a, b) => a - b,
  );
  return edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
}

describe('parseSseEvents', () => {
  it('joins data lines, strips one space, keeps names, and skips comments and empty events', () => {
    const text =
      '\uFEFF: hi\n\nevent: a\ndata: one\ndata:two\ndata:  three\nid: 7\n\nevent: lonely\n\n:x\ndata\n\ndata: ß\n\n';
    expect(parseSseEvents(Buffer.from(text))).toEqual([
      { name: 'a', data: 'one\ntwo\n three' },
      { name: '', data: 'ß' },
    ]);
  });
});

describe('a line of an error', () => {
  const bytes = Buffer.from('data: {"a":1}\n\nerror: {"error":{"message":"no"}}\n\n');

  it('is an event of that name, as GPUStack means it', () => {
    const events = [
      { name: '', data: '{"a":1}' },
      { name: 'error', data: '{"error":{"message":"no"}}' },
    ];
    expect(parseSseEvents(bytes)).toEqual(events);
    expect(readByLines(cutAt(bytes, [3, 20, 30]))).toEqual(events);
  });
});

describe('SseFramer', () => {
  it('reads the same events whatever the line ends and however the bytes are cut', () => {
    const character = fc.constantFrom('a', ':', ' ', '"', 'ß', '東', '👋🏽', '\0');
    const eol = fc.constantFrom('\n', '\r\n', '\r');
    const line = fc.oneof(
      fc.string({ unit: character, maxLength: 12 }).map((text) => `data: ${text}`),
      fc.constantFrom(': ping', 'event: e', 'data:', 'data: 👋🏽', ''),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(line, eol)),
        fc.array(fc.nat(), { maxLength: 30 }),
        (lines, cuts) => {
          const bytes = Buffer.from(lines.map(([text, end]) => text + end).join(''));
          const whole = readAll([bytes]);
          expect(readAll(cutAt(bytes, cuts))).toEqual(whole);
          const single = Array.from(bytes, (byte) => Buffer.from([byte]));
          expect(readAll(single)).toEqual(whole);
          for (const chunks of [[bytes], cutAt(bytes, cuts), single])
            expect(readByLines(chunks)).toEqual(whole);
        },
      ),
    );
  });

  it.each(['\n\n', '\r\n\r\n', '\r\r'])(
    'hands out an event with the last byte of %j, not later',
    (blank) => {
      const framer = new SseFramer();
      const bytes = Buffer.from(`data: x${blank}`);
      const given = Array.from(bytes, (byte) => framer.push(Buffer.from([byte]))?.toString());
      // CR LF CR is a blank line already; the LF that may follow is no event.
      const at = blank === '\r\n\r\n' ? bytes.length - 2 : bytes.length - 1;
      expect(given.findIndex((text) => text !== undefined)).toBe(at);
      expect(given[at]).toBe(bytes.subarray(0, at + 1).toString());
    },
  );

  it('lets an event beyond the cap go by unread, and reads the next', () => {
    const huge = Buffer.from(`data: ${'x'.repeat(sseEventBytesMax)}`);
    const half = huge.length >> 1;
    const chunks = [
      huge.subarray(0, half),
      huge.subarray(half),
      Buffer.from('y'),
      Buffer.from('\r\n\r'),
      Buffer.from('\ndata: next\n\n'),
    ];
    const framer = new SseFramer();
    const events = chunks.flatMap((chunk) => parseSseEvents(framer.push(chunk) ?? Buffer.alloc(0)));
    expect(framer.oversized).toBe(1);
    expect(events).toEqual([{ name: '', data: 'next' }]);
  });

  it.each(['\n', '\r\n', '\r'])(
    'reads a large event without its picture, and what stands around it: %j',
    (eol) => {
      const picture = 'A'.repeat(sseEventBytesMax + 200_000);
      const large = { type: 'image.completed', b64_json: picture, usage: { t: 7 } };
      const events = [{ a: 1 }, large, { b: 2 }, large, { c: 3 }];
      const bytes = Buffer.from(
        events.map((event) => `event: e${eol}data: ${JSON.stringify(event)}${eol}${eol}`).join(''),
      );
      const at = bytes.indexOf(picture);
      // Byte by byte where something ends.
      const ends = Array.from({ length: 200 }, (_, index) => at + picture.length - 50 + index);
      const pieces = Array.from({ length: 60 }, (_, index) => index * 65_536);
      for (const cuts of [ends, pieces]) {
        const read = readAll(cutAt(bytes, cuts), { shortens: true });
        // An event that is there at once is read as it is.
        const short = read.map(({ data }) => data.replace(/(A{4096})A+/, '$1'));
        expect(short).toEqual(
          events.map((event) => JSON.stringify(event).replace(/(A{4096})A+/, '$1')),
        );
        expect(
          Math.min(...read.map(({ data }) => (data.includes('AAA') ? data.length : 1e9))),
        ).toBeLessThan(5000);
      }
    },
  );

  it('lets an event go by that is large without its long texts', () => {
    const many = { of: new Array(200_000).fill('short'), usage: 7 };
    const bytes = Buffer.from(`data: ${JSON.stringify(many)}\n\ndata: next\n\n`);
    const pieces = Array.from({ length: 60 }, (_, index) => index * 65_536);
    expect(readAll(cutAt(bytes, pieces), { shortens: true })).toEqual([{ name: '', data: 'next' }]);
  });

  it.each([
    ['a\n\nb', 3],
    ['a\r\n\r\nb', 5],
    ['a\r\rb', 3],
    ['a\n\r\nb', 4],
    ['a\r\nb', 0],
    ['', 0],
  ])('finds the blank line in %j', (text, end) => {
    expect(endOfLastEvent(Buffer.from(text))).toBe(end);
  });
});

describe('SseEventReader', () => {
  it('hands out an event with the last byte of its blank line', () => {
    for (const blank of ['\n\n', '\r\r', '\r\n\r\n']) {
      const reader = new SseEventReader(100);
      const bytes = Buffer.from(`data: x${blank}`);
      const given = Array.from(bytes, (byte) => reader.push(Buffer.from([byte])).length);
      expect(given.indexOf(1)).toBe(blank === '\r\n\r\n' ? bytes.length - 2 : bytes.length - 1);
      expect(reader.end()).toEqual([]);
    }
  });

  it('holds nothing of comments and names, however many come without a blank line', () => {
    const reader = new SseEventReader(100);
    for (let at = 0; at < 1000; at++)
      expect(reader.push(Buffer.from(': nothing\nevent: e\n: nothing'))).toEqual([]);
    expect(reader.isOversized).toBe(false);
    expect(reader.push(Buffer.from('\ndata: x\n\n'))).toEqual([{ name: 'e', data: 'x' }]);
  });

  it.each([
    ['one long line', 'data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'],
    ['many lines', 'data: xxxxxxxxxxxxxxx\ndata: xxxxxxxxxxxxxxx\n'],
    ['many empty lines', 'data:\n'.repeat(6)],
  ])('says that an event of %s is larger than the cap', (_, text) => {
    const reader = new SseEventReader(30);
    reader.push(Buffer.from(text));
    expect(reader.isOversized).toBe(true);
  });

  it.each([
    ['{"error":{}}', true],
    ['\uFEFF\r\n{"error":\n{}}\n', true],
    ['\uFEFFdata: x\n\n', false],
    ['\n\n: x\n\n', false],
    ['', false],
  ])('knows whether %j can be an event stream', (text, isForeign) => {
    const reader = new SseEventReader(100);
    reader.push(Buffer.from(text));
    reader.end();
    expect(reader.isForeign).toBe(isForeign);
  });
});
