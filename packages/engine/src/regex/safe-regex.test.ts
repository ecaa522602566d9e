import { ownTime } from '@sluice/testkit/own-time';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Matcher } from './matcher.ts';
import { compileProgram } from './program.ts';
import { compileSafeRegex } from './safe-regex.ts';
import { Searcher } from './searcher.ts';
import { backtrackingSteps, isAnchored } from './step-bound.ts';
import { parseRegex, RegexFault } from './syntax.ts';
import { newWorkBudget } from './work-budget.ts';

function compiled(pattern: string, flags = '') {
  const result = compileSafeRegex(pattern, flags);
  if (!result.ok) throw new Error(`${pattern}: ${result.fault}`);
  return result.regex;
}

/** Our own machines, whatever the native engine could do. */
function machines(pattern: string, flags: string) {
  const parsed = parseRegex(pattern, {
    ignoresCase: flags.includes('i'),
    isMultiline: flags.includes('m'),
    dotMatchesAll: flags.includes('s'),
  });
  const program = compileProgram(parsed);
  return {
    matcher: new Matcher(program, isAnchored(parsed.root)),
    searcher: new Searcher(program),
  };
}

const atoms = [
  'a',
  'b',
  'É',
  '.',
  '\\w',
  '\\W',
  '\\s',
  '\\d',
  '[ab]',
  '[^a]',
  '[a-c\\d-]',
  '[^\\W_]',
  '[\\s\\S]',
  '\\n',
  '\\x41',
  '\\u00e9',
  '-',
];
const assertions = ['^', '$', '\\b', '\\B'];
const loops = ['*', '+', '?', '{2}', '{1,2}', '{0,3}', '*?', '+?', '??', '{2,}', '{1,}?'];

/** `canBeEmpty` says whether repeated parts may match nothing. */
function patterns(canBeEmpty: boolean): fc.Arbitrary<string> {
  const { any } = fc.letrec<{ any: string; solid: string }>((tie) => ({
    solid: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(...atoms),
      fc.tuple(tie('solid'), tie('solid')).map(([a, b]) => `(${a}|${b})`),
      fc.tuple(tie('solid'), tie('any')).map(([a, b]) => `${a}${b}`),
      fc
        .tuple(tie('solid'), fc.constantFrom('+', '{2}', '+?'))
        .map(([a, loop]) => `(?:${a})${loop}`),
    ),
    any: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      tie('solid'),
      fc.constantFrom(...assertions, ''),
      fc.tuple(tie('any'), tie('any')).map(([a, b]) => `(?:${a}|${b})`),
      fc.tuple(tie('any'), tie('any')).map(([a, b]) => a + b),
      fc
        .tuple(canBeEmpty ? tie('any') : tie('solid'), fc.constantFrom(...loops))
        .map(([a, loop]) => `(?:${a})${loop}`),
    ),
  }));
  return any;
}

const flags = fc.constantFrom('', 'i', 'm', 's', 'im');
const texts = fc.string({
  unit: fc.constantFrom('a', 'b', 'c', 'A', 'B', 'é', 'É', ' ', '\n', '\r', '1', '_', '-', '😀'),
  maxLength: 12,
});

describe('the linear machines', () => {
  it('find a match exactly where the native engine finds one', () => {
    fc.assert(
      fc.property(
        patterns(true),
        flags,
        fc.array(texts, { maxLength: 8 }),
        (pattern, flag, list) => {
          const native = new RegExp(pattern, flag);
          const { matcher } = machines(pattern, flag);
          for (const text of list)
            expect(matcher.test(text, text.length, newWorkBudget())).toBe(native.test(text));
        },
      ),
      { seed: 1, numRuns: 4000 },
    );
  });

  it('find the same begin, end and groups, unless what is repeated can be empty', () => {
    fc.assert(
      fc.property(
        patterns(false),
        flags,
        fc.array(texts, { maxLength: 8 }),
        (pattern, flag, list) => {
          const native = new RegExp(pattern, `${flag}d`);
          const { searcher } = machines(pattern, flag);
          for (const text of list) {
            const slots = searcher.search(text, text.length, 0, { left: 100_000 });
            const expected = native.exec(text)?.indices?.flatMap((pair) => pair ?? [-1, -1]);
            expect(slots).toEqual(expected);
          }
        },
      ),
      { seed: 2, numRuns: 4000 },
    );
  });

  it.each(['ſ', 'ı', 'K', 'ß', 'µ', 'Μ', 'μ', 'ǅ', 'ÿ', 'ſt'])(
    'fold the case of %s as the native engine does',
    (text) => {
      for (const pattern of [
        's',
        'i',
        'k',
        'ß',
        'SS',
        'μ',
        'Ǆ',
        'Ÿ',
        '[^s]',
        '[a-z]',
        '\\w',
        '\\W',
      ]) {
        const { matcher } = machines(pattern, 'i');
        expect(matcher.test(text, text.length, newWorkBudget())).toBe(
          new RegExp(pattern, 'i').test(text),
        );
      }
    },
  );

  it('forget nothing that matters when their memory is full', () => {
    const { matcher } = machines('(?:a|b)*a(?:a|b){12}$', '');
    const native = /(?:a|b)*a(?:a|b){12}$/;
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'b'), { minLength: 20, maxLength: 60 }),
        (units) => {
          const text = units.join('');
          expect(matcher.test(text, text.length, newWorkBudget())).toBe(native.test(text));
        },
      ),
      { seed: 3, numRuns: 500 },
    );
  });

  it('tell many kinds of characters apart', () => {
    const { matcher } = machines('[Ā-ſ]{3}[一-龥]$', '');
    const text = Array.from({ length: 6000 }, (_, index) => String.fromCharCode(0x100 + index));
    expect(matcher.test(text.join(''), 6000, newWorkBudget())).toBe(false);
    expect(matcher.test('abcĀāĂ一', 7, newWorkBudget())).toBe(true);
    expect(matcher.test('abcĀāĂ', 6, newWorkBudget())).toBe(false);
  });
});

describe('backtrackingSteps', () => {
  it('is no less than what a backtracking search of the worst text takes', () => {
    // On a text without a match, /a*a*b/ tries every way of sharing out the letters.
    const { root } = parseRegex('a*a*b', plain);
    const length = 30;
    let tried = 0;
    for (let start = 0; start <= length; start++)
      for (let first = 0; first <= length - start; first++) tried += length - start - first + 1;
    expect(backtrackingSteps(root, length, 1e9)).toBeGreaterThanOrEqual(tried);
  });

  it.each(['(a+)+$', '(a|a)*b', '(?:a?){30}a{30}', '(\\w+\\s?)*$', 'a*a*a*a*a*b'])(
    'keeps %s from the native engine',
    (pattern) => {
      expect(backtrackingSteps(parseRegex(pattern, plain).root, 2000, 1e6)).toBe(
        Number.POSITIVE_INFINITY,
      );
    },
  );

  it('lets plain patterns through at any length', () => {
    for (const pattern of ['^gpt-4', 'claude', '\\d{3}-\\d{4}', '^(a|b)c$'])
      expect(backtrackingSteps(parseRegex(pattern, plain).root, 100_000, 3_200_000)).toBeLessThan(
        3_200_000,
      );
  });
});

const plain = { ignoresCase: false, isMultiline: false, dotMatchesAll: false };

describe('compileSafeRegex', () => {
  it.each([
    ['(a+)+$', `${'a'.repeat(50_000)}!`, false],
    ['^(?:a|a)*b', 'a'.repeat(50_000), false],
    ['(x+x+)+y', 'x'.repeat(50_000), false],
    ['^(\\w+\\s?)*$', `${'word '.repeat(10_000)}!`, false],
    ['(.*)*\\d{20}', 'a'.repeat(50_000), false],
    ['(a*)*b|c$', `${'a'.repeat(50_000)}c`, true],
  ])('runs %s on a text that would hang a backtracking engine', (pattern, text, matches) => {
    const regex = compiled(pattern);
    expect(regex.test(text)).toBe(matches);
    expect(regex.find(text) !== undefined).toBe(matches);
  });

  it('takes no time over repetitions of nothing', () => {
    const regex = compiled(`^${'(?:'.repeat(20)}${'){1000}'.repeat(20)}x?`);
    expect(regex.test('x')).toBe(true);
  });

  it.each([
    ['a(?=b)', 'look-around'],
    ['(?<!a)b', 'look-around'],
    ['(a)\\1', 'back-reference'],
    ['(?<n>a)\\k<n>', 'back-reference'],
    ['(?:a{500}){500}', 'too large'],
    ['(?i:a)', 'flags'],
    ['('.repeat(60) + ')'.repeat(60), 'nests'],
    ['()'.repeat(60), 'groups'],
    ['a'.repeat(3000), 'longer than'],
  ])('refuses %.20s and says why', (pattern, why) => {
    const result = compileSafeRegex(pattern);
    expect(result).toMatchObject({ ok: false, fault: expect.stringContaining(why) });
  });

  it.each(['(', 'a**', '[b-a]', 'a{2,1}', '\\'])('refuses the invalid pattern %s', (pattern) => {
    expect(compileSafeRegex(pattern)).toMatchObject({
      ok: false,
      fault: expect.stringContaining('valid regular expression'),
    });
  });

  it('refuses flags whose meaning it cannot keep', () => {
    expect(compileSafeRegex('a', 'y')).toMatchObject({ ok: false });
    expect(compileSafeRegex('a', 'u')).toMatchObject({ ok: false });
  });

  it.each([
    ['b+', 'g', 'abbcb', 'X', 'aXcX'],
    ['b+', '', 'abbcb', 'X', 'aXcb'],
    ['x*', 'g', 'abc', '-', '-a-b-c-'],
    ['(\\w)(\\d)', 'g', 'a1 b2', '$2$1', '1a 2b'],
    ['(a)|(b)', 'g', 'ab', '[$1$2]', '[a][b]'],
    ['a', 'g', 'aa', '$$&', '$&$&'],
    ['a', '', 'a', '$7', '$7'],
    ['É', 'gi', 'éÉe', '_', '__e'],
    ['^.', 'gm', 'ab\ncd', '*', '*b\n*d'],
  ])('replaces like JavaScript: /%s/%s', (pattern, flag, text, replacement, expected) => {
    expect(text.replace(new RegExp(pattern, flag), replacement)).toBe(expected);
    expect(compiled(pattern, flag).replace(text, replacement)).toBe(expected);
    // The same on a text too long for the native engine, so that ours is asked.
    const slow = compiled(`(?:${pattern})|(?:q+q+)+Q`, flag);
    const filler = 'q'.repeat(3000);
    expect(slow.replace(`${text}\n${filler}`, replacement).slice(0, expected.length)).toBe(
      expected,
    );
  });

  it('replaces by what a function makes of each match', () => {
    const regex = compiled('\\d+', 'g');
    expect(regex.replace('a1b22', ({ text, index }) => `<${text}@${index}>`)).toBe('a<1@1>b<22@3>');
  });

  it('gives up, and says so, when replacing would take a quadratic number of steps', () => {
    const regex = compiled('(?:a|b)*c|a', 'g');
    expect(() => regex.replace('a'.repeat(100_000), 'x')).toThrow(RegexFault);
  });

  it('gives up on a pattern that follows no text twice in the same way', () => {
    const regex = compiled('(?:a|b)*?a.{200}z');
    let seed = 7;
    const letters = Array.from({ length: regex.textMax }, () => {
      seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
      return (seed >> 8) % 2 === 0 ? 'a' : 'b';
    });
    const spentMs = ownTime();
    expect(() => regex.test(letters.join(''))).toThrow(RegexFault);
    // It took 1.7 s when only the length of the text was bounded.
    expect(spentMs()).toBeLessThan(400);
  });

  it('leaves what lies behind its reach as it is', () => {
    const regex = compiled('a', 'g');
    const text = `${'ab'.repeat(1000)}${'b'.repeat(regex.textMax - 2000)}aaa`;
    expect(regex.replace(text, '')).toBe(`${'b'.repeat(regex.textMax - 1000)}aaa`);
    expect(compiled('b').test(`${'a'.repeat(regex.textMax)}b`)).toBe(false);
  });

  it('does not take the end of its reach for the end of the text', () => {
    expect(compiled('^a+$').test('aaaa', 3)).toBe(false);
    expect(compiled('^a{3}').test('aaaa', 3)).toBe(true);
    expect(compiled('a\\b').test('ab', 1)).toBe(false);
    expect(compiled('a\\b').test('a b', 1)).toBe(true);
    const regex = compiled('a+$', 'g');
    const long = 'a'.repeat(regex.textMax + 1);
    expect(regex.test(long)).toBe(false);
    expect(regex.find(long)).toBeUndefined();
    expect(regex.replace(long, '')).toBe(long);
  });
});
