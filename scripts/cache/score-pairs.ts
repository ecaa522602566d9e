import { type LabelledPair, missKinds } from './labelled-questions.ts';

export interface ScoredPair extends LabelledPair {
  /** The cosine of their vectors. */
  readonly similarity: number;
}

export interface Score {
  readonly threshold: number;
  /** Of the answers that would be given, how many are right; 1 where none is given. */
  readonly precision: number;
  /** Of the questions that have an answer, how many get it. */
  readonly recall: number;
  /** Answers to another question, by what makes it another. */
  readonly wrong: Readonly<Record<string, number>>;
}

export function scorePairs(pairs: readonly ScoredPair[], threshold: number): Score {
  const given = pairs.filter(({ similarity }) => similarity >= threshold);
  const right = given.filter(({ isSame }) => isSame).length;
  const wrong = given.filter(({ isSame }) => !isSame);
  return {
    threshold,
    precision: given.length === 0 ? 1 : right / given.length,
    recall: right / pairs.filter(({ isSame }) => isSame).length,
    wrong: Object.fromEntries(
      missKinds.map((kind) => [kind, wrong.filter((pair) => pair.kind === kind).length]),
    ),
  };
}
