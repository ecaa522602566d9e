import { readText } from '@sluice/guardrails';

/**
 * What of a name is left for the eye: without case, accents, separators, letters of other scripts that look like Latin ones,
 * digits that look like letters. Names of one skeleton are taken for each other.
 */
export function skeletonOf(name: string): string {
  return readText(name)
    .text.normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_./:-]/g, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replace(/[01|!i5$]/g, (letter) => alike[letter] ?? letter);
}

const alike: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'l',
  '|': 'l',
  '!': 'l',
  i: 'l',
  5: 's',
  $: 's',
};

/** Latin letters beside those of a script that has look-alikes, or letters that are Latin ones in another form. */
export function isMixedName(name: string): boolean {
  const hasLatin = /\p{Script=Latin}/u.test(name);
  return (
    (hasLatin &&
      /[\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Cherokee}]/u.test(name)) ||
    name.normalize('NFKC') !== name.normalize('NFC')
  );
}
