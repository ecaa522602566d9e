import { expect, it } from 'vitest';
import { objectId } from './object-id.ts';

const long = 'a'.repeat(4_000_000);

it.each([
  ['cached content', 'a', 'a'],
  ['cached content', 'cachedContents/a', 'a'],
  ['cached content', 'projects/p/locations/l/cachedContents/a', 'a'],
  ['file search store', 'a:importFile', 'a'],
  ['file search store', 'fileSearchStores/a:importFile', 'a'],
  ['agent session', 'sesn_1', 'sesn_1'],
  ['agent', 'agents/', 'agents/'],
  ['agent', ':', ':'],
  ['agent', `${long}/`, `${long}/`],
  ['agent', `${long}:${long}`, long],
  ['file', 'file-1', 'file-1'],
  ['file', 'files/abc-1', 'abc-1'],
  ['file', 'abc-1:download', 'abc-1'],
  ['file', 'https://generativelanguage.googleapis.com/v1beta/files/abc-1', 'abc-1'],
  ['file', 'gs://bucket/files/a', 'gs%3A%2F%2Fbucket%2Ffiles%2Fa'],
  ['file', `${long}:${long}/`, `${long}:${long}/`],
  // Of what has no names of resources an id is what it says.
  ['response', 'a/b:c', 'a/b:c'],
] as const)('a %s that is named %.80s', (kind, text, id) => {
  expect(objectId(kind, text) === id).toBe(true);
});
