import { createHash } from 'node:crypto';

/** What a provider takes for a name or an id that others have made. */
export interface WordRule {
  /** Of the whole word. */
  isGood: RegExp;
  lengthMax: number;
}

const digestLength = 8;

/**
 * A word that the rule takes, in place of one that it does not: the same for the
 * same word in any request, and different for different ones.
 */
export function fittingWord(word: string, { lengthMax }: WordRule): string {
  const digest = createHash('sha256').update(word).digest('hex');
  // Too short to tell anything but words apart.
  if (lengthMax <= 2 * digestLength) return digest.slice(0, lengthMax);
  const start = word.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, lengthMax - digestLength - 1);
  // A digit or a hyphen may not begin a name everywhere.
  const named = /^[A-Za-z_]/.test(start) ? start : `_${start.slice(1)}`;
  return `${named}_${digest.slice(0, digestLength)}`;
}
