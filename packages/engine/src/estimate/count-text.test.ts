import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countText } from './count-text.ts';

function count(text: string): { tokens: number; bytes: number } {
  const into = { tokens: 0, bytes: 0 };
  countText(text, into);
  return into;
}

const word = fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }).map((text) =>
  // A space counts by what stands beside it, a lone surrogate is no UTF-8.
  text.replaceAll(/[\s\ud800-\udfff]/g, 'x'),
);

describe('countText', () => {
  it('comes to the sum of its words, wherever a longer text is read in two halves', () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 60 }), (words) => {
        const text = words.join(' ').slice(0, 1024);
        const { tokens, bytes } = count(text);
        const apart = text.split(' ').reduce((sum, each) => sum + count(each).tokens, 0);
        expect(tokens).toBeCloseTo(apart, 6);
        expect(bytes).toBe(Buffer.byteLength(text));
      }),
    );
  });

  it('reads a text without a space as one', () => {
    // From the seventh letter on a word costs by the letter: two of them would be one token less.
    const { tokens } = count('x'.repeat(1000));
    expect(tokens).toBeCloseTo(1.05 + (1000 - 6) * 0.36, 0);
  });
});
