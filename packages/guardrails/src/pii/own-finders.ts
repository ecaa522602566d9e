import type { RegexMatch, SafeRegex } from '@sluice/engine';
import { CheckError } from '../check.ts';
import { compilePattern, parseRule } from '../pattern.ts';
import type { Finder } from './finding.ts';

/** What a config's pattern finds. @throws CheckError when the pattern is none */
export function patternFinder(type: string, rule: string, parameter: string): Finder {
  const { source, flags } = parseRule(rule);
  const pattern = compilePattern({ source, flags: flags.replace('g', '') }, parameter);
  return function* (text) {
    for (let at = 0; at <= text.length; ) {
      const found = findFrom(pattern, text, at);
      if (found === undefined) return;
      // An empty match finds nothing, and must not be found for ever.
      if (found.end > found.index)
        yield { type, start: found.index, end: found.end, value: found.text };
      at = Math.max(found.end, found.index + 1);
    }
  };
}

function findFrom(pattern: SafeRegex, text: string, from: number): RegexMatch | undefined {
  try {
    return pattern.find(text, from);
  } catch {
    // It would take too many steps.
    throw new CheckError('TimeSpent', 'Looking for a pattern in this text takes too long.');
  }
}

/** Whole words and phrases of a list, whatever their case. */
export function wordFinder(type: string, words: readonly string[]): Finder {
  const sought = words.map((word) => word.toLowerCase());
  return function* (text) {
    const lower = lowerCase(text);
    for (const word of sought)
      for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + word.length)) {
        const end = at + word.length;
        if (isWhole(lower, at, end)) yield { type, start: at, end, value: word };
      }
  };
}

/** As long as the text: a few letters become two. */
function lowerCase(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return text.replace(/\p{Lu}/gu, (letter) => {
    const small = letter.toLowerCase();
    return small.length === letter.length ? small : letter;
  });
}

const letter = /[\p{L}\p{N}_]/u;

function isWhole(text: string, start: number, end: number): boolean {
  return !letter.test(text[start - 1] ?? '') && !letter.test(text[end] ?? '');
}
