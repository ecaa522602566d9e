/**
 * What a stranger puts where a short text, a number or a small object belongs.
 * Texts are raw JSON or raw header values: what no serializer would write is
 * the point of them.
 */
export interface Payload {
  readonly name: string;
  readonly text: string;
}

/** Characters that some reader treats apart: separators, quotes, escapes, signs of patterns and templates. */
const characters: readonly [string, string][] = [
  ['spaces', ' '],
  ['tabs', '\t'],
  ['letters', 'a'],
  ['digits', '9'],
  ['quotes', '"'],
  ['backslashes', '\\'],
  ['semicolons', ';'],
  ['commas', ','],
  ['equals signs', '='],
  ['slashes', '/'],
  ['dots', '.'],
  ['percent signs', '%'],
  ['at signs', '@'],
  ['hyphens', '-'],
  ['opening brackets', '['],
  ['opening braces', '{'],
  ['opening parentheses', '('],
  ['stars', '*'],
  ['dollars', '$'],
  ['colons', ':'],
];

/** JSON values, each about `bytes` long where length is its weapon. */
export function jsonPayloads(bytes: number): Payload[] {
  const text = (value: string) => JSON.stringify(value);
  const times = (piece: string) => piece.repeat(Math.floor(bytes / piece.length));
  const nested = (open: string, close: string) => {
    const depth = Math.floor(bytes / (open.length + close.length));
    return `${open.repeat(depth)}0${close.repeat(depth)}`;
  };
  return [
    ...characters.map(([name, character]) => ({
      name: `text of ${name}`,
      text: `"${times(character === '\t' ? '\\t' : character === '"' || character === '\\' ? `\\${character}` : character)}"`,
    })),
    { name: 'nested lists', text: nested('[', ']') },
    { name: 'nested objects', text: nested('{"a":', '}') },
    { name: 'list of empty objects', text: `[${times('{},')}{}]` },
    { name: 'list of lists of texts', text: `[${times('["a"],')}0]` },
    { name: 'list of texts', text: `[${times('"aaaa",')}"a"]` },
    { name: 'one member again and again', text: `{${times('"a":1,')}"a":2}` },
    {
      name: 'many members',
      text: `{${Array.from({ length: Math.floor(bytes / 10) }, (_, at) => `"k${at}":0`).join(',')}}`,
    },
    { name: 'number of many digits', text: times('7') },
    { name: 'fraction of many digits', text: `0.${times('3')}` },
    { name: 'number beyond all', text: '1e999999' },
    { name: 'exponent of many digits', text: `1e${times('9')}` },
    { name: 'minus one', text: '-1' },
    { name: 'half', text: '0.5' },
    { name: 'zero', text: '0' },
    { name: 'true', text: 'true' },
    { name: 'null', text: 'null' },
    { name: 'empty text', text: '""' },
    { name: 'empty list', text: '[]' },
    { name: 'empty object', text: '{}' },
    { name: 'list of null', text: '[null]' },
    { name: 'half a character', text: '"\\ud800"' },
    { name: 'the other half', text: '"a\\udc00b"' },
    { name: 'NUL', text: '"a\\u0000b"' },
    { name: 'line breaks', text: '"a\\r\\nx-evil: 1"' },
    { name: 'prototype', text: '{"__proto__":{"a":1},"constructor":{"prototype":{"a":1}}}' },
    { name: 'a reference', text: '"@demo/gpt-4o-mini"' },
    { name: 'a pattern that backtracks', text: text(`^(a+)+$|(a|a)*b|(.*)*${'x*'.repeat(200)}`) },
    { name: 'a template', text: text('{{#a}}'.repeat(Math.min(200, Math.floor(bytes / 6)))) },
    { name: 'an operator', text: '{"$regex":"(a+)+$","$in":[null],"$and":[{},[]]}' },
    { name: 'date of another age', text: '"+275760-09-13T00:00:00.001Z"' },
  ];
}

/** Values of headers: no line breaks, at most `bytes` long. */
export function headerPayloads(bytes: number): Payload[] {
  const times = (piece: string) => piece.repeat(Math.floor(bytes / piece.length));
  return [
    ...characters.map(([name, character]) => ({
      // Blanks at both ends are no part of a value: they stand between two letters.
      name: `x, ${name}, x`,
      text: `x${times(character)}x`,
    })),
    { name: 'parameters', text: `x${times(';a=b')}` },
    { name: 'one parameter with open quotes', text: `x; a="${times('\\"')}` },
    { name: 'blanks before a parameter', text: `application/json;${times(' ')}charset=utf-8` },
    { name: 'blanks within a list', text: times(' , ').trim() },
    { name: 'bytes beyond ASCII', text: times('\u00ff') },
    { name: 'words of a JWT', text: `${times('A')}.${'B'.repeat(10)}.${'C'.repeat(10)}` },
    { name: 'percent codes', text: times('%c3%28') },
    { name: 'Bearer again and again', text: times('Bearer ').trim() },
    ...jsonPayloads(bytes).filter(({ text }) => /^[\x20-\x7e]*$/.test(text)),
  ];
}
