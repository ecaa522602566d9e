import { expect, it } from 'vitest';
import { fieldWords, wordLists, wordOf } from './field-help.ts';

it('a word has one home', () => {
  const all = wordLists.flatMap((words) => Object.keys(words));
  expect(all.filter((word, index) => all.indexOf(word) !== index)).toEqual([]);
  expect(Object.keys(fieldWords)).toHaveLength(all.length);
});

it('the most particular meaning of a name counts', () => {
  expect(wordOf('value', ['conditions', 'rate-limits-policies'])).toBe('conditions.value');
  expect(wordOf('value', ['rate-limits-policies'])).toBe('rate-limits-policies.value');
  expect(wordOf('value', ['options'])).toBe('value');
  expect(wordOf('constructor', [])).toBeUndefined();
});
