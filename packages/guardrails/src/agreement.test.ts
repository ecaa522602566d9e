import { adminEndpoints } from '@sluice/contracts/admin';
import { describe, expect, it } from 'vitest';
import { CheckError } from './check.ts';
import { checkKinds } from './check-kinds.ts';

type Row = [id: string, parameters: Record<string, unknown>, taken: boolean];

/** Parameter objects at the edges of what each check can be told, and whether it takes them. */
const rows: Row[] = [
  ['default.regexMatch', { rule: 'a+' }, true],
  ['default.regexMatch', {}, false],
  ['default.regexMatch', { rule: '' }, false],
  ['default.regexMatch', { rule: '(' }, false],
  ['default.regexMatch', { rule: '(?<=a)b' }, false],
  ['default.regexMatch', { rule: 'a', not: 'yes' }, false],
  ['default.regexMatch', { rule: 'a', not: null }, true],
  ['default.regexReplace', { rule: '/a/gi' }, true],
  ['default.regexReplace', { rule: 'a', redactText: '' }, true],
  ['default.regexReplace', { rule: 'a', redactText: 1 }, false],
  ['default.regexReplace', { rule: '/(/g' }, false],
  ['default.regexReplace', { rule: '/a/y' }, false],
  ['default.sentenceCount', {}, true],
  ['default.sentenceCount', { minSentences: 1 }, true],
  ['default.sentenceCount', { minSentences: 1, maxSentences: 2 }, true],
  ['default.sentenceCount', { minSentences: '1' }, false],
  ['default.sentenceCount', { maxSentences: 1.5 }, false],
  ['default.wordCount', {}, true],
  ['default.wordCount', { minWords: 1.5 }, false],
  ['default.wordCount', { minWords: -1 }, true],
  ['default.wordCount', { maxWords: null }, true],
  ['default.characterCount', { maxCharacters: 5 }, true],
  ['default.characterCount', { maxCharacters: '5' }, false],
  ['default.contains', { words: ['a'], operator: 'none' }, true],
  ['default.contains', { words: ['a'] }, true],
  ['default.contains', { words: [], operator: 'any' }, false],
  ['default.contains', { words: ['a', 1] }, false],
  ['default.contains', { words: 'a' }, false],
  ['default.contains', { words: ['a'], operator: 'some' }, false],
  ['default.contains', { words: Array.from({ length: 5000 }, (_, at) => `${at}`) }, true],
  ['default.endsWith', { suffix: 'bye' }, true],
  ['default.endsWith', {}, false],
  ['default.alluppercase', { not: true }, true],
  ['default.alllowercase', {}, true],
  ['default.isAllLowerCase', {}, true],
  ['default.containsCode', { format: 'Python' }, true],
  ['default.containsCode', { format: 'ts' }, true],
  ['default.containsCode', { format: 'python' }, true],
  ['default.containsCode', { format: 'Klingon' }, false],
  ['default.containsCode', {}, false],
  ['default.jsonKeys', { keys: ['a'], operator: 'all' }, true],
  ['default.jsonKeys', { keys: ['a'] }, true],
  ['default.jsonKeys', { operator: 'all' }, false],
  ['default.notNull', {}, true],
  ['default.notNull', { not: 'yes' }, false],
  ['default.modelWhitelist', { models: ['m'] }, true],
  ['default.modelWhitelist', { models: [] }, false],
  ['default.modelwhitelist', { models: ['m'] }, true],
  ['default.modelRules', { rules: { defaults: ['m'] } }, true],
  ['default.modelRules', { rules: { metadata: { team: { red: ['m'], blue: [] } } } }, true],
  ['default.modelRules', { rules: { metadata: { team: { red: 'm' } } } }, false],
  ['default.modelRules', {}, false],
  ['default.allowedRequestTypes', {}, true],
  ['default.allowedRequestTypes', { allowedTypes: ['chatComplete', 'messages'] }, true],
  ['default.allowedRequestTypes', { allowedTypes: ['imageEdit', 'ocr'] }, true],
  ['default.allowedRequestTypes', { blockedTypes: 'embed, chatComplete' }, true],
  ['default.allowedRequestTypes', { allowedTypes: ['chatcomplete'] }, false],
  ['default.allowedRequestTypes', { allowedTypes: ['embed'], blockedTypes: ['embed'] }, false],
  ['default.allowedRequestTypes', { allowedTypes: 'embed', blockedTypes: ['embed'] }, false],
  ['default.requiredMetadataKeys', { metadataKeys: ['a'] }, true],
  ['default.requiredMetadataKeys', { metadataKeys: ['a'], operator: 'one' }, false],
  ['default.requiredMetadataKeys', {}, false],
  ['default.requiredMetadataKeyPairs', { metadataPairs: { a: 'x', b: [1, true] } }, true],
  ['default.requiredMetadataKeyPairs', { metadataPairs: {} }, false],
  ['default.requiredMetadataKeyPairs', { metadataPairs: { a: {} } }, false],
  ['default.requiredMetadataKeyPairs', { metadataPairs: { a: [] } }, false],
  ['default.requiredMetadataKeyPairs', { metadataPairs: { a: '(' }, matchType: 'regex' }, false],
  ['default.requiredMetadataKeyPairs', { metadataPairs: { a: 'x' }, matchType: 'like' }, false],
  ['default.requestParametersCheck', {}, true],
  ['default.requestParametersCheck', { tools: { blockedTypes: ['custom'] } }, true],
  ['default.requestParametersCheck', { tools: { blockedTypes: null } }, true],
  ['default.requestParametersCheck', { tools: { blockedTypes: 'custom' } }, false],
  [
    'default.requestParametersCheck',
    { params: { values: { n: { allowedValues: [1, null] } } } },
    true,
  ],
  ['default.requestParametersCheck', { params: { values: { n: { allowedValues: 1 } } } }, false],
  ['default.requestParametersCheck', { params: { blockedKeys: ['a'], allowedKeys: ['a'] } }, false],
  ['default.jsonSchema', { schema: {} }, true],
  ['default.jsonSchema', { schema: { type: 'object', properties: { a: { $ref: '#' } } } }, true],
  ['default.jsonSchema', { schema: { $schema: 'http://json-schema.org/draft-07/schema#' } }, true],
  ['default.jsonSchema', {}, false],
  ['default.jsonSchema', { schema: [] }, false],
  ['default.jsonSchema', { schema: { $schema: 'https://example.com/mine' } }, false],
  ['default.jsonSchema', { schema: { type: 'text' } }, false],
  ['default.jsonSchema', { schema: { required: 'a' } }, false],
  ['default.jsonSchema', { schema: { $ref: 'https://example.com/other' } }, false],
  ['default.jsonSchema', { schema: { $ref: '#/$defs/none' } }, false],
  ['default.jsonSchema', { schema: { pattern: '(?<=a)b' } }, false],
  ['default.jsonSchema', { schema: { properties: { a: { pattern: '(' } } } }, false],
  ['default.jsonSchema', { schema: { description: 'a'.repeat(70_000) } }, false],
  ['default.jsonSchema', { schema: nested(70) }, false],
  ['default.jsonSchema', { schema: { allOf: Array(400).fill({}) } }, false],
  ['default.jsonSchema', { schema: nested(20) }, true],
  ['default.promptInjection', {}, true],
  ['default.promptInjection', { threshold: 0.7, signals: ['override'], not: true }, true],
  ['default.promptInjection', { not: true }, false],
  ['default.promptInjection', { threshold: 1.1 }, false],
  ['default.languages', { allowed: ['en'], share: 0 }, true],
  ['default.languages', { denied: ['de'], onUndecided: 'fail' }, true],
  ['default.languages', {}, false],
  ['default.languages', { allowed: ['eng'] }, false],
  ['default.gibberish', {}, true],
  ['default.gibberish', { threshold: 0 }, false],
  ['default.toxicity', {}, true],
  ['default.toxicity', { words: ['gadget*'], allow: ['holy'] }, true],
  ['default.toxicity', { categories: ['rudeness'] }, false],
  ['default.bannedTopics', { topics: [{ name: 'a b', words: ['c d'] }] }, true],
  ['default.bannedTopics', { topics: [{ name: '', words: ['c'] }] }, false],
  ['default.imageHosts', {}, true],
  ['default.imageHosts', { allowedHosts: ['*.a.example', 'localhost'] }, true],
  ['default.imageHosts', { allowedHosts: ['*'] }, false],
  ['default.inlineImageUrls', {}, true],
  ['default.inlineImageUrls', { providers: ['openai'], maxSizeBytes: 1 }, true],
  ['default.inlineImageUrls', { timeoutMs: 0 }, false],
  ['default.webhook', { webhookURL: 'https://a.example/check' }, true],
  ['default.webhook', { webhookURL: 'https://a.example', headers: { 'x-a': 'b' } }, true],
  ['default.webhook', { webhookURL: 'https://a.example', headers: '{"x-a":"b"}' }, true],
  ['default.webhook', { webhookURL: 'https://a.example', headers: '["x-a"]' }, false],
  ['default.webhook', { webhookURL: 'https://a.example', headers: 'x-a: b' }, false],
  ['default.webhook', { webhookURL: 'https://a.example', timeout: 'soon' }, false],
  ['default.webhook', { webhookURL: 'https://a.example', failOnError: 'yes' }, false],
  ['default.webhook', { webhookURL: 'https://a.example', forwardHeaders: ['x-a'] }, true],
  ['default.webhook', { webhookURL: 'https://a.example', forwardHeaders: ['cookie'] }, false],
  ['default.webhook', { webhookURL: 'ftp://a.example' }, false],
  ['default.webhook', {}, false],
  ['default.log', { logURL: 'https://a.example/log', headers: '{"x-a":"b"}' }, true],
  ['default.log', { logURL: 'nowhere' }, false],
  ['default.log', { logURL: 'https://a.example', timeout: 0 }, false],
  ['default.log', {}, false],
  ['default.validUrls', {}, true],
  ['default.validUrls', { onlyDNS: true, not: true }, true],
  ['default.validUrls', { onlyDNS: 'yes' }, false],
  ['default.jwt', { jwksUri: 'https://a.example/jwks' }, true],
  ['default.jwt', { introspectEndpoint: 'https://a.example/introspect' }, true],
  ['default.jwt', { jwks: { keys: [] } }, false],
  ['default.jwt', {}, false],
  ['default.jwt', { jwksUri: 'https://a.example/jwks', maxTokenAge: 'a day' }, false],
  ['default.jwt', { jwksUri: 'https://a.example/jwks', algorithms: 'RS256' }, false],
  ['default.jwt', { jwksUri: 'https://a.example/jwks', clockTolerance: -1 }, false],
  [
    'default.jwt',
    { jwksUri: 'https://a.example/jwks', claimValues: { role: { values: 'admin' } } },
    true,
  ],
  [
    'default.jwt',
    {
      jwksUri: 'https://a.example/jwks',
      claimValues: { role: { values: ['('], matchType: 'regex' } },
    },
    false,
  ],
  [
    'default.jwt',
    { jwksUri: 'https://a.example/jwks', claimValues: { role: { values: 'a', matchType: 'is' } } },
    false,
  ],
  ['default.pii', {}, true],
  ['default.pii', { categories: ['IBAN', 'PERSON'], redact: true, regions: ['DE'] }, true],
  ['default.pii', { categories: ['NAMES'] }, false],
  ['default.pii', { redact: 'yes' }, false],
  ['default.pii', { regions: ['de'] }, false],
  ['default.pii', { regions: ['ZZ'] }, false],
  ['default.pii', { patterns: [{ name: 'CASE', rule: '/c-\\d+/i' }] }, true],
  ['default.pii', { patterns: [{ name: 'CASE', rule: '(' }] }, false],
  ['default.pii', { patterns: [{ name: 'a case', rule: 'a' }] }, false],
  ['default.pii', { lists: [{ name: 'CODE', words: ['fox'] }], allow: ['a'] }, true],
  ['default.pii', { lists: [{ name: 'CODE', words: [] }] }, false],
  ['default.pii', { allow: 'a' }, false],
  ['default.addPrefix', { prefix: 'a' }, true],
  ['default.addPrefix', { prefix: '' }, false],
  ['default.addPrefix', { prefix: 'a', applyToRole: 'system', onlyIfEmpty: 'no' }, false],
  ['default.addPrefix', { prefix: 'a', from: 'a newer release' }, true],
];

function nested(levels: number): object {
  return levels === 0 ? {} : { items: nested(levels - 1) };
}

const { body } = adminEndpoints['guardrails.create'];

/** The parameters as the API takes them, completed; undefined when it does not. */
function sent(id: string, parameters: object): object | undefined {
  const result = body?.safeParse({ name: 'n', checks: [{ id, parameters }], actions: {} });
  return result?.data?.checks[0]?.parameters;
}

/** As admins send it: what the API takes, made into a check before it is saved. */
function isSaved(id: string, parameters: object): boolean {
  const saved = sent(id, parameters);
  return saved !== undefined && isRun(id, saved);
}

/** As a config carries it: what runs, or says that it cannot. */
function isRun(id: string, parameters: object): boolean {
  try {
    return checkKinds.get(id)?.compile(parameters) !== undefined;
  } catch (error) {
    if (error instanceof CheckError) return false;
    throw error;
  }
}

describe('what a check can be told', () => {
  it.each(
    rows.map(([id, parameters, taken]) => ({
      id,
      parameters,
      taken,
      shown: JSON.stringify(parameters).slice(0, 100),
    })),
  )('$id $shown: the same where it is saved and where it runs', ({ id, parameters, taken }) => {
    expect({ saved: isSaved(id, parameters), run: isRun(id, parameters) }).toEqual({
      saved: taken,
      run: taken,
    });
  });

  it('every check that there is has a row that it takes, and may be saved by every full id', () => {
    for (const id of checkKinds.keys()) {
      if (!id.startsWith('default.')) continue;
      const row = rows.find(([each, , taken]) => taken && kindOf(each) === kindOf(id));
      expect([id, row !== undefined && isSaved(id, row[1])]).toEqual([id, true]);
    }
  });

  it('what is saved is complete, so that a later default changes nothing that is there', () => {
    for (const [id, parameters, taken] of rows) {
      if (!taken) continue;
      const saved = sent(id, parameters) ?? {};
      expect(sent(id, saved)).toEqual(saved);
    }
  });
});

const kindOf = (id: string) => checkKinds.get(id)?.id;
