import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PassingTexts } from './passing-texts.ts';

const paths = [
  ['messages', '*', 'content', '*', 'file', 'file_id'],
  ['messages', '*', 'content', '*', 'file_id'],
  ['container'],
  ['container', 'id'],
  ['file', '*', 'id'],
];

function textsOf(text: string | Buffer, pieces: readonly number[] = [], bytesMax = 200) {
  const passing = new PassingTexts(paths, bytesMax);
  const bytes = Buffer.from(text as string);
  const found = [];
  let at = 0;
  for (const piece of pieces) {
    found.push(...passing.add(bytes.subarray(at, at + piece)));
    at += piece;
  }
  found.push(...passing.add(bytes.subarray(at)));
  return passing.isBroken ? 'broken' : found.map((one) => `${one.path}=${one.text}`);
}

/** What the parser's document has at a path. */
function collect(value: unknown, [first, ...rest]: readonly string[]): string[] {
  if (first === undefined) return [value].flat(100).filter((one) => typeof one === 'string');
  if (typeof value !== 'object' || value === null) return [];
  if (first === '*') return Object.values(value).flatMap((item) => collect(item, rest));
  if (Array.isArray(value)) return [];
  return Object.hasOwn(value, first)
    ? collect((value as Record<string, unknown>)[first], rest)
    : [];
}

const names = ['messages', 'content', 'file', 'file_id', 'container', 'id', 'x"\\', 'ü'];
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.string({ unit: 'binary' }),
    fc.constantFrom(null, true, -1.5e3, '\\"file_id":"no"', '{"container":"no"}'),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...names), tie('tree'), { maxKeys: 4 }),
  ),
}));

describe('PassingTexts', () => {
  it('finds what the parser finds, however the bytes are cut and spelled', () => {
    fc.assert(
      fc.property(
        tree,
        fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 80 }),
        fc.constantFrom(undefined, 2, '\t'),
        fc.boolean(),
        (value, pieces, space, isEscaped) => {
          let text = JSON.stringify(value, null, space);
          if (isEscaped) text = text.replaceAll('file_id', 'fil\\u0065_\\u0069d');
          const expected = paths.flatMap((path, index) =>
            collect(JSON.parse(text), path).map((found) => `${index}=${found}`),
          );
          expect([...textsOf(text, pieces, 10_000)].sort()).toEqual(expected.sort());
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('finds both of two members of one name, and tells of a long text that it is one', () => {
    expect(textsOf('{"container":"a","container":{"id":"b"}}')).toEqual(['2=a', '3=b']);
    expect(textsOf(`{"container":"${'a'.repeat(201)}"}`)).toEqual(['2=undefined']);
    expect(textsOf(`{"${'a'.repeat(100_000)}":"b","container":"c"}`)).toEqual(['2=c']);
  });

  it.each([
    ['UTF-16', Buffer.from('{"container":"a"}', 'utf16le')],
    ['comments', '{/*"*/"container":"a"/*"*/}'],
    ['single quotes', `{'container':'a'}`],
    ['a second document', '{"a":1}{"container":"a"}'],
    ['a text behind it', '{"a":1}"b"'],
    ['an escape of nobody', '{"container":"\\q"}'],
  ])('says of %s that it is no JSON', (_, text) => {
    expect(textsOf(text)).toBe('broken');
  });

  it('finds every text where that is asked for, and no name', () => {
    const passing = new PassingTexts([['**']], 10);
    const texts = passing.add(
      Buffer.from('{"a":"b","c":[["d"],{"e":{"f":"g"}},1],"long":"01234567890"}'),
    );
    expect(texts.map(({ text }) => text)).toEqual(['b', 'd', 'g', undefined]);
  });

  it('reads one document after another, and says which is whole', () => {
    const passing = new PassingTexts(paths, 200);
    const read = (text: string) => {
      const found = passing.add(Buffer.from(text)).map(({ text: one }) => one);
      const { isBroken } = passing;
      return [found, isBroken, passing.next()];
    };
    expect(read('{"container":"a"}')).toEqual([['a'], false, true]);
    expect(read('{"container":"b","file":{"x":{"y')).toEqual([['b'], false, false]);
    expect(read('{"container":"c"} {}')).toEqual([['c'], true, false]);
    expect(read('{"file":{"x":{"id":"d"}}}')).toEqual([['d'], false, true]);
    expect(read('  ')).toEqual([[], false, false]);
  });

  it('finds what is true', () => {
    const passing = new PassingTexts([['a']], 10, [['store'], ['deep', 'store']]);
    const texts = passing.add(
      Buffer.from(
        '{"x":{"store":true},"store" : true,"a":"true","deep":{"store":false,"store":true}}',
      ),
    );
    expect(texts.map(({ path, text }) => `${path}=${text}`)).toEqual([
      '1=true',
      '0=true',
      '2=true',
    ]);
    const other = new PassingTexts([], 10, [['store']]);
    expect(other.add(Buffer.from('{"store":"true","store":[true],"store":null}'))).toEqual([]);
  });

  it('holds no more levels than anybody nests', () => {
    const passing = new PassingTexts([['**']], 10);
    passing.add(Buffer.from('['.repeat(2_000)));
    expect(passing.isBroken).toBe(true);
  });
});
