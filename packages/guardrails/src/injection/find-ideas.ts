import { type Idea, ideaIndex } from './lexicon.ts';

/** Where each idea stands in a text, counted in words. */
export interface Ideas {
  readonly places: ReadonlyMap<Idea, readonly number[]>;
  /** Words that were ideas only once digits were read as letters. */
  readonly respelled: number;
}

/** Reads a text that `readText` has made plain. */
export function findIdeas(text: string): Ideas {
  const places = new Map<Idea, number[]>();
  const respelled = new Set<number>();
  for (const { idea, at, isRespelled } of ideaIndex.find(text)) {
    const known = places.get(idea);
    if (known === undefined) places.set(idea, [at]);
    else if (known.at(-1) !== at) known.push(at);
    if (isRespelled) respelled.add(at);
  }
  return { places, respelled: respelled.size };
}
