import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GrowingBytes } from './growing-bytes.ts';
import { ShortTexts } from './short-texts.ts';

function shortened(text: string, pieces: readonly number[] = []): string {
  const short = new ShortTexts();
  const bytes = Buffer.from(text);
  const kept = new GrowingBytes();
  let at = 0;
  for (const piece of [...pieces, bytes.length]) {
    short.add(bytes.subarray(at, at + piece), kept);
    at += piece;
  }
  return kept.take().toString();
}

/** Longer than a text may be, of whatever takes several bytes or an escape. */
const longTexts = fc
  .array(fc.constantFrom('a', 'é', '漢', '😀', '\\', '"', '\n', '\u0001', '\ud800', '{', ','), {
    minLength: 1,
    maxLength: 30,
  })
  .map((signs) => signs.join('').repeat(4200).slice(0, 9000));

describe('ShortTexts', () => {
  it('leaves JSON whose texts are beginnings of what they were, however it is cut', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string(),
          fc.oneof(fc.jsonValue(), longTexts, fc.array(longTexts, { maxLength: 2 })),
        ),
        fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 60 }),
        (value, pieces) => {
          const text = JSON.stringify(value);
          expectShort(JSON.parse(shortened(text, pieces)), JSON.parse(text));
        },
      ),
    );
  });

  it('gives a document of three megabytes as what is told beside its picture', () => {
    const told = { a: [{ b64: 'A'.repeat(3_000_000) }], usage: { tokens: 7 } };
    const short = shortened(JSON.stringify(told), new Array(100).fill(30_000));
    expect(short.length).toBeLessThan(4200);
    expect(JSON.parse(short)).toMatchObject({ usage: { tokens: 7 } });
  });

  it('ends a text with its line', () => {
    const lines = `event: "quoted\ndata: {"a":"${'x'.repeat(9000)}"}\n\ndata: {"b":1}\n\n`;
    expect(shortened(lines)).toBe(
      lines.replaceAll('x', '').replace('"a":""', `"a":"${'x'.repeat(4096)}"`),
    );
  });
});

function expectShort(short: unknown, whole: unknown): void {
  if (typeof whole === 'string') {
    expect(typeof short).toBe('string');
    const start = (short as string).replace(/[\ud800-\udbff]$/, '');
    expect(whole.startsWith(start)).toBe(true);
    if (Buffer.byteLength(JSON.stringify(whole)) <= 4098) expect(short).toBe(whole);
    else expect(start.length).toBeGreaterThan(600);
  } else if (typeof whole === 'object' && whole !== null) {
    // Their names are texts as well.
    const names = Object.keys(whole);
    expect(Object.keys(short as object)).toEqual(names);
    for (const name of names)
      expectShort(
        (short as Record<string, unknown>)[name],
        (whole as Record<string, unknown>)[name],
      );
  } else expect(short).toBe(whole);
}
