import { plainText } from './plain-text.ts';
import { type Disguise, type SeenText, seeText } from './seen-text.ts';

export type { Disguise } from './seen-text.ts';

/** A text as a model reads it, whatever it was written with: as it is seen, in lower case and without accents. */
export type ReadableText = SeenText;

export function readText(original: string): ReadableText {
  const { text: seen, disguises: worn, hidden } = seeText(original);
  const disguises = new Set<Disguise>(worn);
  const text = plainText(seen);
  const joined = text.replace(spacedOut, (run) => run.replace(/[^\p{L}\p{N}]/gu, ''));
  if (joined.length !== text.length) disguises.add('spelling');
  if (hidden.length > 0) disguises.add('hidden_characters');
  return { text: joined, disguises, hidden };
}

/** Letters with something between each of them: `i.g.n.o.r.e`. */
const spacedOut =
  /(?<![\p{L}\p{N}])[\p{L}\p{N}](?:([ ._*-])[\p{L}\p{N}])(?:\1[\p{L}\p{N}]){2,60}(?![\p{L}\p{N}])/gu;
