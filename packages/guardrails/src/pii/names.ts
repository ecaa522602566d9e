import type { Finder } from './finding.ts';
import { cities, countries, firstNames, notNames } from './name-lists.ts';

/**
 * Names of people, by a first name that is common, a title, or what introduces one;
 * a guess: `docs/guardrails.md` says how good.
 */
export const findPersons: Finder = function* (text) {
  for (const { 0: written, index } of text.matchAll(capitalised)) {
    const words = written.split(separators);
    const first = words[0] ?? '';
    const before = text.slice(Math.max(0, index - 24), index);
    const hasTitle = words.length > 1 && titles.test(`${first} `);
    const isTitled = hasTitle || titles.test(before);
    const isIntroduced = introductions.test(before);
    // A sentence begins with a capital whatever it begins with.
    const skipped = hasTitle
      ? 1
      : isTitled || isIntroduced
        ? 0
        : words.findIndex((word) => firstNames.has(word.toLowerCase()));
    if (skipped < 0 || notNames.has(first.toLowerCase())) continue;
    const name = words.slice(skipped);
    if (!isTitled && !isIntroduced && name.length < 2) continue;
    if (cities.has(name.join(' ').toLowerCase())) continue;
    const start = index + offsetOf(words, skipped);
    const end = index + written.length;
    yield { type: 'PERSON', start, end, value: text.slice(start, end).toLowerCase() };
  }
};

const separators = / /;
const capitalised =
  /(?<![\p{L}\p{N}_@/.-])\p{Lu}(?:[\p{Ll}'’-]|(?<=['’-])\p{Lu}|(?<=Mc)\p{Lu}){1,24}(?: (?:\p{Lu}\.|(?:(?:de|da|van|von|der|den|la|bin|al) ){0,2}\p{Lu}(?:[\p{Ll}'’-]|(?<=['’-])\p{Lu}|(?<=Mc)\p{Lu}){1,24})){0,4}(?![\p{L}\p{N}_@])/gu;
const titles =
  /\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Sir|Dame|Herr|Frau|Monsieur|Madame|Señor|Señora|Sra?)\.? $/;
const introductions =
  /(?:\b(?:my name is|my name's|name is|i am called|call me|this is|signed,?|named|ich heiße|je m'appelle|me llamo|mi chiamo|patient|employee|customer|client|name:)) $/i;

function offsetOf(words: readonly string[], skipped: number): number {
  return skipped === 0 ? 0 : words.slice(0, skipped).join(' ').length + 1;
}

/** Countries, large cities, and addresses of houses. */
export const findPlaces: Finder = function* (text) {
  for (const { 0: written, index } of text.matchAll(capitalised)) {
    const words = written.split(separators);
    for (let from = 0; from < words.length; from++)
      for (let count = Math.min(3, words.length - from); count > 0; count--) {
        const place = words.slice(from, from + count).join(' ');
        const key = place.toLowerCase();
        if (!cities.has(key) && !countries.has(key)) continue;
        const start = index + offsetOf(words, from);
        yield { type: 'LOCATION', start, end: start + place.length, value: key };
        from += count - 1;
        break;
      }
  }
  for (const { 0: written, index } of text.matchAll(houses))
    yield {
      type: 'LOCATION',
      start: index,
      end: index + written.length,
      value: written.toLowerCase(),
    };
};

const houses =
  /(?<![\p{L}\p{N}_])(?:\d{1,5}[A-Za-z]? (?:\p{Lu}[\p{Ll}'.-]{1,20} ){1,3}(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Square|Way|Terrace|Crescent)\b\.?|\p{Lu}\p{Ll}{2,20}(?:straße|strasse|weg|platz|allee|gasse) \d{1,4}[a-z]?|\d{1,4},? (?:rue|avenue|boulevard|place) (?:de la |du |de |des )?\p{Lu}[\p{L}-]{2,20})/gu;
