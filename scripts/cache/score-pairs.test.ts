import { describe, expect, it } from 'vitest';
import { labelledPairs } from './labelled-questions.ts';
import { type ScoredPair, scorePairs } from './score-pairs.ts';

const pair = (similarity: number, isSame: boolean): ScoredPair => ({
  ...{ one: 'a', other: 'b', kind: 'number' },
  similarity,
  isSame,
});

describe('the labelled questions', () => {
  it('are more than 200 pairs, each once, a third of which are the same', () => {
    const texts = labelledPairs.map(({ one, other }) => `${one} | ${other}`);
    expect(new Set(texts).size).toBe(labelledPairs.length);
    expect(labelledPairs.length).toBeGreaterThanOrEqual(200);
    expect(labelledPairs.filter(({ isSame }) => isSame)).toHaveLength(labelledPairs.length / 3);
  });

  it('are scored by what would be answered from a similarity on', () => {
    const pairs = [pair(0.99, true), pair(0.96, false), pair(0.95, true), pair(0.5, true)];
    const { precision, recall, wrong } = scorePairs(pairs, 0.95);
    expect([precision, recall, wrong.number]).toEqual([2 / 3, 2 / 3, 1]);
    expect(scorePairs(pairs, 0.999)).toMatchObject({ precision: 1, recall: 0 });
  });
});
