import { ownTime } from '@sluice/testkit/own-time';
import { describe, expect, it } from 'vitest';
import { isReadDifferently, repeatedMember } from './repeated-members.ts';

const found = (text: string) => repeatedMember(Buffer.from(text));

describe('repeatedMember', () => {
  it.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"x":[{"b":1},{"c":{"d":1,"e":[],"d":2}}]}', 'd'],
    ['{"":1, "" :2}', ''],
    ['{"é":1,"\\u00e9":2}', 'é'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ])('of %s is found', (text, name) => expect(found(text)).toBe(name));

  it.each([
    '{}',
    '[]',
    '{"a":"a","b":"a"}',
    '{"a":{"a":{"a":[{"a":1},{"a":2}]}}}',
    '{"a":["b","b",{"b":1}],"b":2}',
    '{"a":"\\"b\\":1,\\"b\\":2","b":"{\\"c\\":1,\\"c\\":2}"}',
    '{"A":1,"a":2}',
  ])('there is none in %s', (text) => expect(found(text)).toBeUndefined());

  // The dearest texts that a request may be (`jsonBounds`): so many names, so deep, so long.
  it.each([
    ['names', `{${Array.from({ length: 54_000 }, (_, index) => `"k${index}":1`).join(',')}}`],
    [
      'escaped names',
      `{${Array.from({ length: 54_000 }, (_, index) => `"\\u0061${index}":1`).join(',')}}`,
    ],
    ['objects', `[${'{"a":1},'.repeat(37_000)}{}]`],
    ['escapes', `{"a":"${'\\"'.repeat(5_000_000)}"}`],
    ['spaces', `{"a":${' '.repeat(10_000_000)}1}`],
  ])('takes a fraction of a second for a text full of %s', (_name, text) =>
    // A quarter of it on a slow machine; what grew with the square would take minutes.
    expect(timeOf(text)).toBeLessThan(1000),
  );
});

describe('isReadDifferently', () => {
  it.each([
    '{"seed":9007199254740993}',
    '{"messages":[{"content":[{"type":"tool_use","input":{"id":-1234567890123456}}]}]}',
    '{"a":1,"a":1}',
  ])('is so of %s', (text) => expect(isReadDifferently(Buffer.from(text))).toBe(true));

  it.each([
    '{"seed":900719925474099}',
    '{"temperature":0.30000000000000004,"n":1}',
    '{"a":"9007199254740993","b":"\\","c":"\\"9007199254740993"}',
  ])('is not so of %s', (text) => expect(isReadDifferently(Buffer.from(text))).toBe(false));
});

/** In ms. */
function timeOf(text: string): number {
  const bytes = Buffer.from(text);
  // Of this thread's own: how long it takes by the clock is the machine's affair.
  const spentMs = ownTime();
  isReadDifferently(bytes);
  return spentMs();
}
