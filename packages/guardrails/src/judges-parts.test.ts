import { describe, expect, it } from 'vitest';
import { checkKinds } from './check-kinds.ts';
import { judgesParts } from './judges-parts.ts';

describe('judgesParts', () => {
  it.each([
    ['default.pii', {}, true],
    ['pii', { not: true }, false],
    ['default.regexMatch', { not: true }, true],
    ['regexMatch', {}, false],
    ['default.contains', { operator: 'none' }, true],
    ['default.contains', {}, false],
    ['default.jsonSchema', {}, false],
    ['default.endsWith', { not: true }, false],
    ['default.languages', {}, false],
    ['default.gibberish', {}, false],
    ['default.bannedTopics', { topics: [{ name: 'guns', words: ['rifle'] }] }, true],
    ['default.bannedTopics', { topics: [{ name: 'guns', minWords: 2 }] }, false],
    ['default.bannedTopics', { topics: [{ name: 'guns' }], similarity: 0.5 }, false],
    ['default.bannedTopics', { topics: [{ name: 'guns' }], not: true }, false],
    ['default.webhook', {}, true],
    ['azure.contentSafety', {}, true],
    ['patronus.isHelpful', {}, false],
  ])('of %s with %j: %s', (id, parameters, expected) => {
    expect(checkKinds.has(id)).toBe(true);
    expect(judgesParts(id, parameters)).toBe(expected);
  });
});
