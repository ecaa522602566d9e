import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseText } from './parse-text.ts';

/** A text of JSON with each character that `isEscaped` picks written as an escape. */
function written(text: string, isEscaped: (at: number) => boolean): string {
  const units = Array.from({ length: text.length }, (_, at) => {
    const unit = text.charCodeAt(at);
    if (isEscaped(at)) return `\\u${unit.toString(16).padStart(4, '0')}`;
    return JSON.stringify(text[at]).slice(1, -1);
  });
  return `"${units.join('')}"`;
}

type Tree = string | number | null | Tree[] | Map<string, Tree>;

function document(tree: Tree, isEscaped: (at: number) => boolean): string {
  if (tree === null || typeof tree === 'number') return JSON.stringify(tree);
  if (typeof tree === 'string') return written(tree, isEscaped);
  if (Array.isArray(tree)) return `[${tree.map((each) => document(each, isEscaped)).join(' ,\n')}]`;
  const members = [...tree].map(
    ([name, value]) => `${written(name, isEscaped)}\t\r\n : ${document(value, isEscaped)}`,
  );
  return `{ ${members.join(',')} }`;
}

function meant(tree: Tree): unknown {
  if (Array.isArray(tree)) return tree.map(meant);
  if (!(tree instanceof Map)) return tree;
  return Object.fromEntries([...tree].map(([name, value]) => [name, meant(value)]));
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  // What one name has as its characters is what another one is written with.
  fc.constantFrom('messages', '\\u006des', '\\u006dessages', '"', '\\', '\\"', '\\\\', 'a"', 'a\\'),
  fc.constantFrom('\n', '\\n', 'é', '\\u00e', '__proto__', 'constructor', '1', ''),
);
const { tree } = fc.letrec<{ tree: Tree; names: Map<string, Tree> }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.integer(),
    fc.constant(null),
    fc.array(tie('tree'), { maxLength: 4 }),
    tie('names'),
  ),
  names: fc.array(fc.tuple(text, tie('tree')), { maxLength: 5 }).map((members) => new Map(members)),
}));

describe('parseText', () => {
  it('reads a name with escapes as it is, whatever was parsed before', () => {
    const attack = '{"model":"a","messages":[1],"\\u006dessages":[2]}';
    const primed = '{"model":"a","messages":[],"\\\\u006des":1}';
    // The parser itself, which whatever else is in this process may use.
    for (const parse of [parseText, JSON.parse])
      expect(parse(primed)).toEqual({ model: 'a', messages: [], '\\u006des': 1 });
    expect(parseText(attack)).toEqual({ model: 'a', messages: [2] });
    expect(parseText('[{"\\\\":1},{"\\"":1}]')).toEqual([{ '\\': 1 }, { '"': 1 }]);
  });

  it('is needed: the parser of this Node takes one name for another', () => {
    JSON.parse('{"needed":0,"\\\\u006des":1}');
    expect(JSON.parse('{"needed":0,"\\u006dessages":1}')).not.toEqual({ needed: 0, messages: 1 });
  });

  it('reads every document, however its texts are written', () => {
    fc.assert(
      fc.property(
        tree,
        fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }),
        (given, escapes) => {
          const json = document(given, (at) => escapes[at % escapes.length] === true);
          expect(parseText(json)).toEqual(meant(given));
          expect(JSON.stringify(parseText(json))).toBe(JSON.stringify(meant(given)));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('refuses what the parser refuses, wherever escapes stand in it', () => {
    const piece = fc.constantFrom(
      ...['{', '}', '"', '":', ',', ':', '1', 'a', '\\', '\\"', '\\u002c', '\\u0022', ' '],
    );
    fc.assert(
      fc.property(
        tree,
        fc.nat(),
        fc.array(piece, { minLength: 1, maxLength: 6 }),
        (given, place, pieces) => {
          const json = document(given, (at) => at % 3 === 0);
          const at = place % (json.length + 1);
          const changed = json.slice(0, at) + pieces.join('') + json.slice(at);
          const isRefused = (parse: (text: string) => unknown) => {
            try {
              parse(changed);
              return false;
            } catch {
              return true;
            }
          };
          expect(isRefused(parseText)).toBe(isRefused(JSON.parse));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('takes the last of members of one name, and keeps the place of the first', () => {
    const value = parseText('{"\\"":1,"b":2,"\\u0022":3,"\\u0062":4}') as object;
    expect(Object.entries(value)).toEqual([
      ['"', 3],
      ['b', 4],
    ]);
  });

  it.each([
    '{"\\x":1}',
    '{"\\u00":1}',
    '{"a\\":1}',
    '{"\\',
    '"\\',
    '{"\\u0061" 1}',
    '{"\\"":}',
    '\\":1',
    // Escapes where no text is: written out, they would make JSON of it.
    '{"a":1\\u002c":2":3}',
    '{"a":{"b":1\\u007d,\\u0022c":2}}',
  ])('refuses %s, and tells of it as it came', (json) => {
    let fault: unknown;
    try {
      parseText(json);
    } catch (error) {
      fault = error;
    }
    expect(fault).toBeInstanceOf(SyntaxError);
    expect(String(fault)).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
  });
});
