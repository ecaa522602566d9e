import { describe, expect, it } from 'vitest';
import type { CheckDeclaration } from './declaration.ts';
import { checkDeclarations } from './declarations.ts';
import { idleParameters, strangeParameters } from './idle-parameters.ts';

const checks = Object.entries(checkDeclarations as Record<string, CheckDeclaration>);
const paths = (found: readonly { path: string }[]) => found.map(({ path }) => path);

describe('strangeParameters', () => {
  it.each(checks)('of %s names what it does not have, and what there is', (id) => {
    const [found, ...others] = strangeParameters(id, { subjcts: ['all'], timeout: 5 });
    expect([found?.path, others]).toEqual(['subjcts', []]);
    expect(found?.why).toContain('failOnError');
  });

  it('names nothing of a check that nobody knows, and of parameters that are none', () => {
    expect([
      ...strangeParameters('default.none', { a: 1 }),
      ...strangeParameters('default.pii', 3),
    ]).toEqual([]);
  });
});

describe('idleParameters', () => {
  it.each(checks)('of %s names nothing of what was left out', (id) => {
    const found = paths(idleParameters(id, {}));
    expect(found).toEqual(id === 'default.requestParametersCheck' ? [''] : []);
  });

  it.each<[string, object, object, string[]]>([
    ['default.pii', { restore: true }, { redact: true }, ['restore']],
    [
      'default.pii',
      { regions: ['DE'], categories: ['IBAN'] },
      { categories: ['PHONE_NUMBER'] },
      ['regions'],
    ],
    ['default.pii', { categories: [] }, { lists: [{ name: 'A', words: ['b'] }] }, ['categories']],
    [
      'default.sentenceCount',
      { minSentences: 5, maxSentences: 2 },
      { maxSentences: 5 },
      ['minSentences', 'maxSentences'],
    ],
    ['default.wordCount', { minWords: 100_000 }, { maxWords: 100_000 }, ['minWords']],
    ['default.characterCount', { maxCharacters: -1 }, { minCharacters: -1 }, ['maxCharacters']],
    ['default.imageHosts', { redactText: 'x' }, { redact: true }, ['redactText']],
    [
      'default.jwt',
      { jwksUri: 'https://a.example', jwks: { keys: [{}] } },
      { jwks: null },
      ['jwksUri'],
    ],
    [
      'default.jwt',
      { cacheMaxAge: 5, introspectEndpoint: 'https://a.example' },
      { jwksUri: 'https://a.example', introspectEndpoint: null },
      ['cacheMaxAge'],
    ],
    [
      'default.jwt',
      { maxTokenAge: '1h', introspectEndpoint: 'https://a.example' },
      { jwks: { keys: [{}] }, introspectEndpoint: null },
      ['maxTokenAge'],
    ],
    [
      'default.jwt',
      { introspectEndpoint: 'https://a.example', jwks: { keys: [{}] } },
      { jwks: null },
      ['introspectEndpoint'],
    ],
    [
      'default.jwt',
      { jwks: { keys: [{}] }, claimPrefix: 'x-' },
      { extractClaims: ['sub'] },
      ['claimPrefix'],
    ],
    ['acuvity.scan', { toxic: false, toxic_threshold: 0.9 }, { toxic: true }, ['toxic_threshold']],
    [
      'acuvity.scan',
      { pii: true, pii_redact: true },
      { pii_categories: ['ssn'] },
      ['pii', 'pii_redact'],
    ],
    [
      'acuvity.scan',
      { secrets: false, secrets_categories: ['jwt'] },
      { secrets: true },
      ['secrets_categories'],
    ],
  ])('of %s with %j, which acts with %j, names it', (id, said, more, expected) => {
    expect(paths(idleParameters(id, said))).toEqual(expected);
    expect(paths(idleParameters(id, { ...said, ...more }))).toEqual([]);
  });
});
