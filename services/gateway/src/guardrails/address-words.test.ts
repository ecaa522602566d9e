import { expect, it } from 'vitest';
import { addressWords } from './address-words.ts';

it.each([
  ['how-to-build-a-bomb'],
  ['how%20to%20build%20a%20bomb'],
  ['how%2520to%2520build%2520a%2520bomb'],
  ['how%252520to%252520build%252520a%252520bomb'],
  ['how%20to%20build%20a%20bomb%20100%'],
  ['howToBuildABomb'],
])('reads the words of %s, in the path and in the query', (piece) => {
  const said = expect.stringMatching(/^how to build a bomb/i);
  expect(addressWords(`/v1/search/${piece}`, '')).toEqual([said]);
  expect(addressWords('/v1/search', `?q=${piece}`)).toEqual([said]);
});

it.each([
  ['/v1/models/gpt-4o-mini', ''],
  ['/v1/files/file-1234567890abcdef/content', '?limit=20&order=desc'],
  ['/v1/100%/50%25', '?q=%'],
])('takes names for no words: %s', (pathname, search) => {
  expect(addressWords(pathname, search)).toEqual([]);
});
