import type { JsonObject } from '@sluice/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDropPath } from './drop-params.ts';
import { shapeParams } from './shape-params.ts';

function shaped(
  settings: { defaults?: JsonObject; overrides?: JsonObject; drop?: string[] },
  json: JsonObject,
): JsonObject | undefined {
  const before = JSON.stringify(json);
  const body = shapeParams(
    {
      defaultParams: settings.defaults,
      overrideParams: settings.overrides,
      dropParams: settings.drop?.map((path) => parseDropPath(path, 'drop_params')),
    },
    json,
  );
  expect(JSON.stringify(json)).toBe(before);
  return body;
}

describe('shapeParams', () => {
  it('fills in defaults where the caller was silent', () => {
    const defaults = { temperature: 0, top_p: 1 };
    expect(shaped({ defaults }, { temperature: 0.7 })).toEqual({ temperature: 0.7, top_p: 1 });
    expect(shaped({ defaults }, { temperature: null, top_p: 0 })).toBeUndefined();
  });

  it('overrides always', () => {
    expect(shaped({ overrides: { model: 'b' } }, { model: 'a', n: 1 })).toEqual({
      model: 'b',
      n: 1,
    });
  });

  it('drops last, so that overridden and defaulted values can go too', () => {
    expect(
      shaped({ defaults: { a: 1 }, overrides: { b: 2 }, drop: ['a', 'b', 'c'] }, { c: 3, d: 4 }),
    ).toEqual({ d: 4 });
  });

  it('says so when nothing changes', () => {
    expect(shaped({}, { a: 1 })).toBeUndefined();
    expect(shaped({ overrides: { a: 1 }, drop: ['x', 'a.b', 'a[0]'] }, { a: 1 })).toBeUndefined();
  });

  it.each<[string[], JsonObject, JsonObject]>([
    [['a.b.c'], { a: { b: { c: 1, d: 2 } } }, { a: { b: { d: 2 } } }],
    [['a[0].b'], { a: [{ b: 1 }, { b: 2 }] }, { a: [{}, { b: 2 }] }],
    [
      ['a[*].b'],
      { a: [{ b: 1, c: 1 }, { c: 2 }, 'x', null] },
      { a: [{ c: 1 }, { c: 2 }, 'x', null] },
    ],
    [
      ['tools[*].function.strict'],
      { tools: [{ function: { name: 'a', strict: true } }, { function: { strict: false } }] },
      { tools: [{ function: { name: 'a' } }, { function: {} }] },
    ],
    [
      ['a[*].b[*].c'],
      { a: [{ b: [{ c: 1 }, { d: 2 }] }, { b: [] }] },
      { a: [{ b: [{}, { d: 2 }] }, { b: [] }] },
    ],
    [['a[1]'], { a: [1, 2, 3] }, { a: [1, 3] }],
    [['a[0]', 'a[1]'], { a: [1, 2, 3] }, { a: [3] }],
    [['a[0]', 'a[*].b'], { a: [{ b: 1 }, { b: 2, c: 3 }] }, { a: [{ c: 3 }] }],
    [['a[*]'], { a: [1, 2] }, { a: [] }],
    [['a', 'a.b'], { a: { b: 1 } }, {}],
    [['a[0][1]'], { a: [[1, 2], [3]] }, { a: [[1], [3]] }],
    [['weird key.x-y'], { 'weird key': { 'x-y': 1 } }, { 'weird key': {} }],
  ])('drops %j', (drop, json, expected) => {
    expect(shaped({ drop }, json)).toEqual(expected);
  });

  it('copies only what it changes', () => {
    const kept = { big: ['text'] };
    const json = { kept, a: { b: 1 } };
    expect(shaped({ drop: ['a.b'] }, json)?.kept).toBe(kept);
  });

  it('never reads or writes through a prototype', () => {
    const hostile = JSON.parse('{"__proto__": {"polluted": 1}, "a": {}}') as JsonObject;
    shaped({ overrides: hostile, defaults: hostile }, { b: 1 });
    shaped(
      { drop: ['__proto__.toString', 'constructor.prototype.toString', 'a.__proto__.x'] },
      hostile,
    );
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(typeof Object.prototype.toString).toBe('function');
    const body = shaped({ overrides: hostile }, { b: 1 }) ?? {};
    expect(Object.getPrototypeOf(body)).toBe(Object.prototype);
    expect(shaped({ drop: ['__proto__.polluted'] }, hostile)).toEqual(
      JSON.parse('{"__proto__": {}, "a": {}}'),
    );
  });

  it('never throws, leaves the caller’s body alone, and drops what it says, on any JSON', () => {
    const name = fc.constantFrom('a', 'b', '__proto__', 'length', 'constructor');
    const part = fc.oneof(
      name.map((text) => `.${text}`),
      fc.constantFrom('[*]', '[0]', '[1]'),
    );
    const path = fc
      .tuple(name, fc.array(part, { maxLength: 4 }))
      .map(([a, rest]) => a + rest.join(''));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        fc.constantFrom(1, 'text', null, true),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.array(fc.tuple(name, tie('value')), { maxLength: 3 }).map(objectOf),
      ),
    }));
    const body = fc.array(fc.tuple(name, value), { maxLength: 4 }).map(objectOf);
    fc.assert(
      fc.property(body, fc.array(path, { maxLength: 4 }), (json, drop) => {
        const result = shaped({ drop }, json as JsonObject) ?? json;
        // Paths without indexes are gone for good: dropping them again changes nothing.
        const stable = drop.filter((text) => !/\[\d/.test(text) && !text.endsWith('[*]'));
        if (drop.every((text) => stable.includes(text)))
          expect(shaped({ drop }, result as JsonObject)).toBeUndefined();
        expect(JSON.parse(JSON.stringify(result))).toEqual(result);
      }),
      { seed: 31, numRuns: 5000 },
    );
  });
});

/** As `JSON.parse` makes it: every key is its own, also `__proto__`. */
function objectOf(entries: [string, unknown][]): unknown {
  return JSON.parse(
    `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${JSON.stringify(inner)}`).join()}}`,
  );
}

describe('parseDropPath', () => {
  it.each(['', '.', 'a.', '.a', 'a..b', 'a[', 'a[]', 'a[-1]', 'a[x]', '[0]', 'a]b', 'a[0]b'])(
    'refuses %j with its place',
    (text) => {
      expect(() => parseDropPath(text, 'config.drop_params[3]')).toThrow(
        /config\.drop_params\[3\]/,
      );
    },
  );

  it('refuses paths of more than 32 parts', () => {
    expect(() => parseDropPath(Array(33).fill('a').join('.'), 'f')).toThrow();
    expect(parseDropPath(Array(32).fill('a').join('.'), 'f')).toHaveLength(32);
  });
});
