import fc from 'fast-check';

/**
 * JSON as text, not as values: spacing, order, doubled keys, escapes and number
 * forms that a parser would lose are what matters.
 */

/** Numbers that come out differently when they are parsed and written again. */
const oddNumbers = [
  '0',
  '-0',
  '-0.0e-0',
  '1.50',
  '1e2',
  '1E+2',
  '1e400',
  '1e-400',
  '0.1000',
  '12345678901234567890',
  '3.141592653589793238462643383279',
  '9007199254740993',
];

const stringPieces = [
  '',
  'a',
  'A b',
  'é',
  'e\u0301',
  '😀',
  '\u2028',
  '\ufeff',
  '\u007f',
  '/',
  '\\/',
  '\\"',
  '\\\\',
  '\\n',
  '\\u0041',
  '\\u00E9',
  '\\u00e9',
  '\\ud83d\\ude00',
  '\\ud800',
  '\\u0000',
  '{',
  ']',
  ',',
  ':',
  '</script>',
  '"model":"x"'.replaceAll('"', '\\"'),
];

const space = fc.constantFrom('', '', '', ' ', '\n', '\t', '\r\n', '  \n  ');
const text = fc
  .array(fc.constantFrom(...stringPieces), { maxLength: 4 })
  .map((pieces) => `"${pieces.join('')}"`);
/** Few names, so that many are doubled; some mean something to JavaScript or to us. */
const names = fc.constantFrom(
  '"a"',
  '"a"',
  '"b"',
  '""',
  '"model"',
  '"mod\\u0065l"',
  '"stream"',
  '"__proto__"',
  '"constructor"',
  '"1"',
  '"é"',
);

function object(entries: readonly (readonly string[])[]): string {
  return `{${entries.map(([before, key, middle, value, after]) => `${before}${key}${middle}:${middle}${value}${after}`).join(',')}}`;
}

const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom(...oddNumbers, 'true', 'false', 'null', '{}', '[ ]'),
    text,
    fc
      .array(fc.tuple(space, tie('value'), space), { maxLength: 4 })
      .map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
    fc.array(fc.tuple(space, names, space, tie('value'), space), { maxLength: 4 }).map(object),
  ),
}));

/** Members that no gateway knows, under names that collide with each other only. */
const unknownNames = fc.constantFrom('"x_a"', '"x_a"', '"x_\\u0061"', '"x_b"', '"__proto__"', '""');
const unknownMembers = fc.array(fc.tuple(space, unknownNames, space, value, space), {
  maxLength: 5,
});

/**
 * The text of an object that has these members, each already JSON text, among
 * others, in any order. `splice` writes the same text with other values of theirs.
 */
export function rawObject(
  known: Readonly<Record<string, string>>,
): fc.Arbitrary<{ text: string; splice(values: Readonly<Record<string, string>>): string }> {
  const keys = Object.keys(known);
  return fc
    .tuple(
      unknownMembers,
      fc.array(fc.tuple(space, space, space), { minLength: keys.length, maxLength: keys.length }),
      fc.array(fc.nat(1000), { minLength: keys.length, maxLength: keys.length }),
      space,
      space,
    )
    .map(([unknown, spaces, places, before, after]) => {
      const splice = (values: Readonly<Record<string, string>>) => {
        const entries: (readonly string[])[] = [...unknown];
        for (const [index, key] of keys.entries()) {
          const [first = '', middle = '', last = ''] = spaces[index] ?? [];
          const place = (places[index] ?? 0) % (entries.length + 1);
          entries.splice(place, 0, [first, JSON.stringify(key), middle, values[key] ?? '', last]);
        }
        return `${before}${object(entries)}${after}`;
      };
      return { text: splice(known), splice };
    });
}

/** One text with everything in it that a parser would lose. */
export const oddMembers = [
  '"x_numbers" : [ 1.50,1e2 ,-0, 12345678901234567890,1E+2,0.1000 ]',
  '"x_twice":1,"x_twice":{"z":1,"a":2,"z":3}',
  '"x_escaped":"\\u00e9\\/\\ud83d\\ude00 é 😀 \\ud800 \u2028"',
  '"":null,"__proto__":{"a":1},"constructor":[]',
  '\r\n\t"x_nested" :{"a":{"a":[{"b":1,"b":2}],"a":0} }',
].join(',');
