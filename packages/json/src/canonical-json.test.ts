import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, writeCanonicalJson } from './canonical-json.ts';

/** As its definition says, with whole texts. */
function plain(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
}

describe('canonical JSON', () => {
  it('sorts names, and leaves out what is not there', () => {
    expect(canonicalJson({ b: [1, { d: null, c: 'é"' }], a: {}, e: undefined })).toBe(
      '{"a":{},"b":[1,{"c":"é\\"","d":null}]}',
    );
  });

  it('has a gap for the text that is cut', () => {
    expect(canonicalJson({ a: 'word', b: ['word', 'words'] }, 'word')).toBe(
      '{"a":?,"b":[?,"words"]}',
    );
  });

  it('is the same text for long texts in pieces, pairs and lone halves of them', () => {
    const units = fc.constantFrom('a', '"', '\n', '😀', '\ud83d', '\ude00', 'é', '\u2028');
    fc.assert(
      fc.property(
        fc.integer({ min: 16_378, max: 16_388 }),
        fc.array(units, { maxLength: 12 }),
        fc.integer({ min: 0, max: 40_000 }),
        (before, middle, after) => {
          const text = `${'x'.repeat(before)}${middle.join('')}${'y'.repeat(after)}`;
          expect(canonicalJson({ text })).toBe(plain({ text }));
        },
      ),
    );
  });

  it('is written in short pieces, each of whole characters', () => {
    const pieces: string[] = [];
    writeCanonicalJson(['😀'.repeat(200_000)], (piece) => pieces.push(piece));
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(17_000);
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
    expect(Buffer.concat(pieces.map((piece) => Buffer.from(piece))).toString()).toBe(
      plain(['😀'.repeat(200_000)]),
    );
  });

  it('is what names with numbers and prototypes are sorted to', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });
});
