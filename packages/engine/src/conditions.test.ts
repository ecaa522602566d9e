import type { JsonObject, JsonValue } from '@sluice/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileQuery, matchesQuery, newQueryBudget, traceQuery } from './conditions.ts';
import type { RoutingFacts } from './plan.ts';

const empty: RoutingFacts = {
  metadata: {},
  params: {},
  headers: {},
  pathname: '/v1/chat/completions',
  scope: '',
};

function compile(query: JsonObject) {
  return compileQuery(query, 'query', newQueryBudget());
}

function matches(query: JsonObject, facts: Partial<RoutingFacts>): boolean {
  return matchesQuery(compile(query), { ...empty, ...facts });
}

function faultOf(query: JsonObject): { field: string; message: string } {
  try {
    compile(query);
  } catch (error) {
    expect(error).toMatchObject({ code: 'config.invalid' });
    return error as { field: string; message: string };
  }
  throw new Error('the query was accepted');
}

describe('comparisons', () => {
  it.each<[JsonValue, JsonValue, boolean]>([
    ['gold', 'gold', true],
    ['gold', 'Gold', false],
    [{ $eq: true }, true, true],
    [{ $eq: true }, 'true', false],
    [{ $eq: 1 }, '1', false],
    [{ $eq: null }, null, true],
    [{ $ne: 'a' }, 'b', true],
    [{ $ne: 1 }, '1', true],
    [{ $ne: 'a' }, 'a', false],
    [{ $gt: 5 }, 6, true],
    [{ $gt: 5 }, '5.5', true],
    [{ $gt: '5' }, 5.1, true],
    [{ $gt: 5 }, 5, false],
    [{ $gt: 5 }, 'many', false],
    [{ $lt: 5 }, 'many', false],
    [{ $gt: 'many' }, 5, false],
    [{ $lte: 'many' }, 5, false],
    [{ $gte: 5 }, 5, true],
    [{ $lt: 5 }, 4, true],
    [{ $lte: 5 }, '5', true],
    [{ $gt: 5, $lt: 10 }, 7, true],
    [{ $gt: 5, $lt: 10 }, 12, false],
    [{ $in: ['a', 1] }, 1, true],
    [{ $in: ['a', 1] }, '1', false],
    [{ $nin: ['a', 1] }, '1', true],
    [{ $nin: ['a', 1] }, 'a', false],
    [{ $in: [] }, 'a', false],
    [{ $regex: '^gpt' }, 'gpt-4', true],
    [{ $regex: 'PT' }, 'gpt-4', false],
    [{ $regex: '4' }, 'gpt-4', true],
    [{ $regex: '^1' }, 12, true],
    [{ $regex: 'b', $ne: 'ab' }, 'ab', false],
  ])('%j holds for %j: %s', (query, value, expected) => {
    expect(matches({ 'params.x': query }, { params: { x: value } })).toBe(expected);
  });

  it.each(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$regex'])(
    'are false for %s when the request has no such value',
    (operator) => {
      const list = operator === '$in' || operator === '$nin';
      const query = { 'metadata.x': { [operator]: list ? ['undefined'] : 'undefined' } };
      expect(matches(query, {})).toBe(false);
      expect(matches({ 'params.x': query['metadata.x'] }, { params: { x: [] } })).toBe(false);
      expect(matches({ 'params.x': query['metadata.x'] }, { params: { x: {} } })).toBe(false);
    },
  );

  it('do not take inherited names for values of the request', () => {
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty'])
      for (const source of ['metadata', 'params', 'headers'])
        expect(matches({ [`${source}.${name}`]: { $ne: 'x' } }, {})).toBe(false);
  });

  it('read headers in any case, lists as HTTP joins them', () => {
    const headers = { 'x-team': 'a', 'x-list': ['1', '2'] };
    expect(matches({ 'headers.X-Team': 'a' }, { headers })).toBe(true);
    expect(matches({ 'headers.x-list': '1, 2' }, { headers })).toBe(true);
    expect(matches({ 'headers.x-none': { $ne: '' } }, { headers })).toBe(false);
  });

  it('see the whole path, with /v1', () => {
    expect(matches({ 'url.pathname': { $regex: '^/v1/chat' } }, {})).toBe(true);
    expect(matches({ 'url.pathname': { $regex: '^/chat' } }, {})).toBe(false);
  });

  it('are not slowed down by a pattern that tries everything', () => {
    const long = { x: `${'a'.repeat(100_000)}!` };
    expect(matches({ 'params.x': { $regex: 'a*a*a*a*a*b' } }, { params: long })).toBe(false);
  });
});

describe('patterns', () => {
  it('that would blow up are refused with their path', () => {
    expect(() => matches({ 'params.x': { $regex: '(a+)+$' } }, {})).toThrow(
      /^query\.params\.x\.\$regex must be a regular expression without loops/,
    );
  });
});

describe('queries', () => {
  it('match everything when empty', () => {
    expect(matches({}, {})).toBe(true);
  });

  it('AND what stands beside $and, $or and $regex', () => {
    const facts = { metadata: { a: '1', b: '2' } };
    const or = { $or: [{ 'metadata.a': '1' }, { 'metadata.a': '9' }] };
    expect(matches(or, facts)).toBe(true);
    expect(matches({ ...or, 'metadata.b': '9' }, facts)).toBe(false);
    expect(matches({ 'metadata.b': '9', ...or }, facts)).toBe(false);
    expect(matches({ 'metadata.a': { $regex: '1', $eq: '9' } }, facts)).toBe(false);
    expect(matches({ $and: [or], 'metadata.b': '9' }, facts)).toBe(false);
  });

  it.each<[string, JsonObject, string]>([
    ['an unknown operator', { 'metadata.x': { $like: 'a' } }, 'query.metadata.x.$like'],
    [
      'an inherited operator',
      { 'metadata.x': { constructor: 'a' } },
      'query.metadata.x.constructor',
    ],
    ['an unknown logical operator', { $nor: [] }, 'query.$nor'],
    ['an empty $or', { $or: [] }, 'query.$or'],
    ['$and that is no list', { $and: {} }, 'query.$and'],
    ['$and of something else', { $and: [{}, 'a'] }, 'query.$and[1]'],
    ['a field without a source', { tier: 'a' }, 'query.tier'],
    ['an unknown source', { 'body.x': 'a' }, 'query.body.x'],
    ['an unknown part of the url', { 'url.host': 'a' }, 'query.url.host'],
    ['three parts', { 'metadata.a.b': 'a' }, 'query.metadata.a.b'],
    ['an empty name', { 'metadata.': 'a' }, 'query.metadata.'],
    ['a list as value', { 'metadata.x': ['a'] }, 'query.metadata.x'],
    ['no operator', { 'metadata.x': {} }, 'query.metadata.x'],
    ['an object to equal', { 'metadata.x': { $eq: {} } }, 'query.metadata.x.$eq'],
    ['$in without a list', { 'metadata.x': { $in: 'a' } }, 'query.metadata.x.$in'],
    ['a list in $in', { 'metadata.x': { $in: ['a', []] } }, 'query.metadata.x.$in[1]'],
    ['a number that is none', { 'metadata.x': { $gt: true } }, 'query.metadata.x.$gt'],
    ['a pattern that is no text', { 'metadata.x': { $regex: 1 } }, 'query.metadata.x.$regex'],
    ['an invalid pattern', { 'metadata.x': { $regex: '(' } }, 'query.metadata.x.$regex'],
    ['look-around', { 'metadata.x': { $regex: '(?=a)' } }, 'query.metadata.x.$regex'],
    ['a fault far inside', { $or: [{ $and: [{ 'a.b': 1 }] }] }, 'query.$or[0].$and[0].a.b'],
  ])('refuse %s, with the path', (_name, query, field) => {
    expect(faultOf(query).field).toBe(field);
  });

  it('refuse what is too deep or too much', () => {
    let deep: JsonObject = {};
    for (let depth = 0; depth < 40; depth++) deep = { $and: [deep] };
    expect(faultOf(deep).message).toContain('deeper');
    const many = Array.from({ length: 5001 }, () => ({ 'metadata.x': 1 }));
    expect(faultOf({ $or: many }).message).toContain('5000 comparisons');
    const costly = Array.from({ length: 20 }, () => ({ 'metadata.x': { $regex: 'a{900}' } }));
    expect(faultOf({ $or: costly }).field).toMatch(/\$or\[11\]/);
  });
});

describe('traceQuery', () => {
  it('shows every comparison, also those behind one that failed', () => {
    const query = compile({
      'metadata.a': '1',
      $or: [{ 'params.n': { $gt: 1 } }, { 'url.pathname': 'x' }],
    });
    expect(traceQuery(query, { ...empty, params: { n: 2 } })).toEqual([
      { field: 'metadata.a', operator: '$eq', expected: '1', matched: false },
      { field: 'params.n', operator: '$gt', expected: 1, actual: 2, matched: true },
      {
        field: 'url.pathname',
        operator: '$eq',
        expected: 'x',
        actual: '/v1/chat/completions',
        matched: false,
      },
    ]);
  });

  it.each([
    'authorization',
    'x-api-key',
    'x-service-api-key',
    'cookie',
    'x-goog-api-key',
    'x-auth-token',
  ])('masks %s, and what it is compared with', (name) => {
    const query = compile({ [`headers.${name}`]: { $eq: 'sk-secret' } });
    const traced = traceQuery(query, { ...empty, headers: { [name]: 'sk-secret' } });
    expect(JSON.stringify(traced)).not.toContain('sk-secret');
    expect(traced[0]).toMatchObject({ matched: true, actual: '***' });
  });

  it('cuts long values', () => {
    const query = compile({ 'params.prompt': { $ne: 'x' } });
    const [traced] = traceQuery(query, { ...empty, params: { prompt: 'p'.repeat(10_000) } });
    expect(String(traced?.actual).length).toBeLessThan(300);
  });
});

describe('matchesQuery', () => {
  const scalars = fc.constantFrom<JsonValue>(
    0,
    1,
    2.5,
    '1',
    '2.5',
    'a',
    'ab',
    '',
    true,
    false,
    null,
  );
  const field = fc.constantFrom('metadata.a', 'params.b', 'headers.c', 'params.list');
  const comparison = fc.oneof(
    fc.record({ $eq: scalars }),
    fc.record({ $ne: scalars }),
    fc.record({ $in: fc.array(scalars, { maxLength: 3 }) }),
    fc.record({ $nin: fc.array(scalars, { maxLength: 3 }) }),
    fc.record({ $gt: fc.constantFrom(0, 1, '2') }),
    fc.record({ $lte: fc.constantFrom(0, 1, '2'), $gte: fc.constantFrom(0, 1) }),
    fc.record({ $lt: fc.constantFrom(1, 'x') }),
    fc.record({ $regex: fc.constantFrom('a', '^1', 'b$', '\\d') }),
    scalars,
  );
  const { query } = fc.letrec<{ query: JsonObject }>((tie) => ({
    query: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.dictionary(field, comparison as fc.Arbitrary<JsonValue>, { maxKeys: 3 }),
      fc.record(
        {
          $and: fc.array(tie('query'), { minLength: 1, maxLength: 3 }),
          $or: fc.array(tie('query'), { minLength: 1, maxLength: 3 }),
          'metadata.a': comparison as fc.Arbitrary<JsonValue>,
        },
        { requiredKeys: [] },
      ) as fc.Arbitrary<JsonObject>,
    ),
  }));
  const facts = fc.record({
    metadata: fc.record({ a: fc.constantFrom('1', 'a', 'ab', 2, true) }, { requiredKeys: [] }),
    params: fc.record({ b: scalars, list: fc.constant([1]) }, { requiredKeys: [] }),
    headers: fc.record({ c: fc.constantFrom('a', '1') }, { requiredKeys: [] }),
    pathname: fc.constant('/v1'),
    scope: fc.constant(''),
  });

  it('agrees with the rules written down naively', () => {
    const seen = { true: 0, false: 0 };
    fc.assert(
      fc.property(query, facts, (document, request) => {
        const expected = naive(document, request as RoutingFacts);
        seen[`${expected}`]++;
        expect(matches(document, request as RoutingFacts)).toBe(expected);
      }),
      { seed: 21, numRuns: 10_000 },
    );
    expect(Math.min(seen.true, seen.false)).toBeGreaterThan(1000);
  });

  function naive(document: JsonObject, request: RoutingFacts): boolean {
    return Object.entries(document).every(([key, value]) => {
      if (key === '$and') return (value as JsonObject[]).every((part) => naive(part, request));
      if (key === '$or') return (value as JsonObject[]).some((part) => naive(part, request));
      const [source, name] = key.split('.') as ['metadata' | 'params' | 'headers', string];
      const actual = (request[source] as JsonObject)[name];
      if (actual === undefined || (typeof actual === 'object' && actual !== null)) return false;
      const operators = (
        typeof value === 'object' && value !== null ? value : { $eq: value }
      ) as JsonObject;
      return Object.entries(operators).every(([operator, expected]) =>
        naiveComparison(operator, actual, expected as JsonValue),
      );
    });
  }

  function naiveComparison(operator: string, actual: JsonValue, expected: JsonValue): boolean {
    const [a, e] = [parseFloat(`${actual}`), parseFloat(`${expected}`)];
    switch (operator) {
      case '$eq':
        return actual === expected;
      case '$ne':
        return actual !== expected;
      case '$in':
        return (expected as JsonValue[]).includes(actual);
      case '$nin':
        return !(expected as JsonValue[]).includes(actual);
      case '$gt':
        return a > e;
      case '$gte':
        return a >= e;
      case '$lt':
        return a < e;
      case '$lte':
        return a <= e;
      default:
        return new RegExp(expected as string).test(`${actual}`);
    }
  }
});
