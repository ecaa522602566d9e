import { ownTime } from '@sluice/testkit/own-time';
import { describe, expect, it } from 'vitest';
import { CheckError } from './check.ts';
import { checkKinds } from './check-kinds.ts';
import { answering } from './example-contexts.ts';

async function verdictOf(schema: object, text: string, more: object = {}) {
  try {
    const kind = checkKinds.get('default.jsonSchema');
    return (await kind?.compile({ schema, ...more }).run(answering(text)))?.verdict;
  } catch (error) {
    if (error instanceof CheckError) return error.name;
    throw error;
  }
}

const person = {
  type: 'object',
  properties: { name: { type: 'string' }, home: { $ref: '#/$defs/place' } },
  required: ['name'],
  $defs: { place: { type: 'object', properties: { town: { type: 'string' } } } },
  unevaluatedProperties: false,
};

describe('default.jsonSchema', () => {
  it.each([
    ['JSON that is the whole text', '{"name":"Ada","home":{"town":"London"}}', true],
    [
      'nested JSON between words, without a fence',
      'So {"name":"A","home":{"town":"B"}} it is.',
      true,
    ],
    ['JSON in a fence', 'Here:\n```json\n{"name":"A"}\n```', true],
    ['what is missing', '{"home":{}}', false],
    ['what is too much, as only 2020-12 says it', '{"name":"A","age":1}', false],
    ['the wrong type behind a reference', '{"name":"A","home":{"town":1}}', false],
    ['any of several', '{"x":1} {"name":"A"}', true],
    ['no JSON', 'name: Ada', false],
    ['no text', '', 'NothingToCheck'],
    ['braces within texts', '{"name":"}{\\"\\u0000"}', true],
  ])('judges %s', async (_what, text, expected) => {
    expect(await verdictOf(person, text)).toBe(expected);
  });

  it.each([
    ['turns what it finds', '{"name":"A"}', false],
    ['turns what it misses', '{"home":{}}', true],
    ['fails without JSON all the same', 'nothing', false],
  ])('not: %s', async (_what, text, expected) => {
    expect(await verdictOf(person, text, { not: true })).toBe(expected);
  });

  it('takes lists', async () => {
    expect(await verdictOf({ type: 'array', prefixItems: [{ const: 1 }] }, '[1,"a"]')).toBe(true);
    expect(await verdictOf({ type: 'array', prefixItems: [{ const: 1 }] }, '[2]')).toBe(false);
  });

  it('tells where and why it is not as asked', async () => {
    const check = checkKinds.get('default.jsonSchema')?.compile({ schema: person });
    const outcome = await check?.run(answering('{"name":1}'));
    expect(outcome?.data.explanation).toContain('/name must be string');
  });

  it('says nothing of names that every object has', async () => {
    expect(await verdictOf({ required: ['toString'] }, '{"a":1}')).toBe(false);
    expect(await verdictOf({ properties: { a: { required: ['constructor'] } } }, '{"a":{}}')).toBe(
      false,
    );
  });

  const doubling = {
    properties: { a: { allOf: [{ $ref: '#' }, { $ref: '#' }] } },
  };
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  const chain = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `d${at}`,
      { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
    ]),
  );

  it.each([
    ['refers to itself', { $ref: '#' }, '{"a":1}'],
    ['refers to itself by another', { $defs: { a: { $ref: '#' } }, $ref: '#/$defs/a' }, '{"a":1}'],
    ['doubles with each level of the data', doubling, deep(60)],
    ['doubles with each reference', { $defs: { ...chain, d40: {} }, $ref: '#/$defs/d0' }, '{}'],
    [
      'compares every item with every other',
      { uniqueItems: true },
      JSON.stringify(Array.from({ length: 3_000 }, (_, at) => ({ at }))),
    ],
    [
      'looks at each of many',
      { items: { allOf: Array(250).fill({ type: 'number' }) } },
      `[${'1,'.repeat(20_000)}1]`,
    ],
  ])('stops at a schema that %s', async (_what, schema, text) => {
    const spentMs = ownTime();
    expect(await verdictOf(schema, text)).toBe('TimeSpent');
    // Compiling counts too here.
    expect(spentMs()).toBeLessThan(500);
  });

  it('does not hang on a pattern that backtracks for ever', async () => {
    const schema = { properties: { a: { pattern: '^(a+)+$' } } };
    expect(await verdictOf(schema, `{"a":"${'a'.repeat(5_000)}!"}`)).toBe(false);
  });

  it('looks at no more text than it has the time for', async () => {
    expect(await verdictOf({}, ' '.repeat(600_000))).toBe('TextTooLong');
  });
});
