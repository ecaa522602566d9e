import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonEdit, type JsonStep } from './json-edit.ts';
import { itemSpans, memberSpans } from './spans.ts';

const edited = (text: string, ...changes: [JsonStep[], string | undefined][]) => {
  const edit = new JsonEdit(Buffer.from(text));
  for (const [path, json] of changes) edit.set(path, json);
  return edit.bytes().toString();
};

describe('JsonEdit', () => {
  it.each<[string, [JsonStep[], string | undefined][], string]>([
    ['{ "a" : 1.0 , "b":2 }', [[['a'], '3']], '{ "a" : 3 , "b":2 }'],
    ['{ "a" : 1.0 , "b":2 }', [[['a'], undefined]], '{  "b":2 }'],
    ['{ "a" : 1.0 , "b":2 }', [[['b'], undefined]], '{ "a" : 1.0 }'],
    ['{"a":1}', [[['a'], undefined]], '{}'],
    ['{}', [[['a', 'b', 'c'], '1']], '{"a":{"b":{"c":1}}}'],
    ['{"a":7}', [[['a', 'b'], '1']], '{"a":{"b":1}}'],
    ['{"a":7}', [[['a', 'b'], undefined]], '{"a":7}'],
    ['{"\\u0061":1,"a":2}', [[['a'], '"x"']], '{"\\u0061":"x","a":"x"}'],
    ['[1, 2, 3]', [[[0], undefined]], '[ 2, 3]'],
    [
      '[1,2,3]',
      [
        [[0], undefined],
        [[1], undefined],
        [[2], undefined],
      ],
      '[]',
    ],
    [
      '{"l":[{"n":1e2},{"n":2}]}',
      [
        [['l', 1, 'n'], '0'],
        [['l', 0, 'm'], '9'],
      ],
      '{"l":[{"n":1e2,"m":9},{"n":0}]}',
    ],
    ['{"a":"]}\\"","b":[]}\n', [[['b', 3], '1']], '{"a":"]}\\"","b":[]}\n'],
    ['{"__proto__":1}', [[['constructor'], '2']], '{"__proto__":1,"constructor":2}'],
  ])('%s', (text, changes, expected) => {
    expect(edited(text, ...changes)).toBe(expected);
  });

  it('gives the bytes themselves where nothing changes', () => {
    const bytes = Buffer.from('{"a":1}');
    expect(new JsonEdit(bytes).bytes()).toBe(bytes);
    expect(new JsonEdit(bytes).set(['b'], undefined).bytes()).toBe(bytes);
  });

  it('does to any document what the same does to its value', () => {
    const names = fc.oneof(fc.string(), fc.constantFrom('a', 'b', '__proto__', '"', '\\u0061', ''));
    const object = fc.dictionary(names, fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true });
    fc.assert(
      fc.property(
        object,
        names,
        names,
        fc.option(fc.jsonValue()),
        fc.constantFrom(undefined, 1, '\t'),
        (value, first, second, put, space) => {
          const document = { ...value, [first]: { ...value } };
          const text = JSON.stringify(document, null, space);
          const json = put === null ? undefined : JSON.stringify(put);
          const expected = JSON.parse(text);
          if (json === undefined) delete expected[first][second];
          else
            Object.defineProperty(expected[first], second, {
              value: JSON.parse(json),
              enumerable: true,
              configurable: true,
              writable: true,
            });
          expect(JSON.parse(edited(text, [[first, second], json]))).toEqual(expected);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('drops any of a list', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue()),
        fc.array(fc.nat(12)),
        fc.boolean(),
        (list, dropped, isIndented) => {
          const text = JSON.stringify(list, null, isIndented ? 2 : 0);
          const changes = dropped.map((index): [JsonStep[], undefined] => [[index], undefined]);
          const left = JSON.parse(text).filter(
            (_: unknown, index: number) => !dropped.includes(index),
          );
          expect(JSON.parse(edited(text, ...changes))).toEqual(left);
        },
      ),
    );
  });
});

describe('spans', () => {
  it('finds every member and item of any document', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.array(fc.jsonValue()),
        fc.nat(3),
        (object, list, space) => {
          const members = Buffer.from(JSON.stringify(object, null, space));
          const items = Buffer.from(JSON.stringify(list, null, space));
          const read = (bytes: Buffer, { start, end }: { start: number; end: number }) =>
            JSON.parse(bytes.toString('utf8', start, end));
          expect(memberSpans(members).map((span) => [span.key, read(members, span)])).toEqual(
            Object.entries(JSON.parse(members.toString())),
          );
          expect(itemSpans(items).map((span) => read(items, span))).toEqual(
            JSON.parse(items.toString()),
          );
        },
      ),
    );
  });
});
