import { characterOf, entity } from '../reading/entities.ts';

/**
 * A text as it reads: digits and letters of other widths and scripts, and entities, as
 * ASCII has them, without what has no width. People, and those who hide a number, write all.
 */
export interface FoldedText {
  readonly text: string;
  /** Where a position of the folded text stands in the original one. */
  originalStart(position: number): number;
  originalEnd(position: number): number;
}

export function foldText(original: string): FoldedText {
  if (!foldable.test(original))
    return { text: original, originalStart: (at) => at, originalEnd: (at) => at };
  const units: string[] = [];
  const origins: number[] = [];
  const ends: number[] = [];
  let plainFrom = 0;
  const keepPlain = (end: number) => {
    if (end === plainFrom) return;
    units.push(original.slice(plainFrom, end));
    for (let at = plainFrom; at < end; at++) {
      origins.push(at);
      ends.push(endOf(original, at));
    }
  };
  for (const found of original.matchAll(foldableAll)) {
    keepPlain(found.index);
    const folded = foldOf(found[0]);
    units.push(folded);
    plainFrom = found.index + found[0].length;
    for (let unit = 0; unit < folded.length; unit++) {
      origins.push(found.index);
      ends.push(plainFrom);
    }
  }
  keepPlain(original.length);
  return {
    text: units.join(''),
    originalStart: (at) => origins[at] ?? original.length,
    originalEnd: (at) => ends[at - 1] ?? endOf(original, 0),
  };
}

/** Behind the character that begins there, both halves of it. */
function endOf(original: string, start: number): number {
  return start + ((original.codePointAt(start) ?? 0) > 0xffff ? 2 : 1);
}

/** Without width, or another form of an ASCII character, or a decimal digit of any script. */
const classes =
  '\\u00ad\\u034f\\u061c\\u180b-\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ufe00-\\ufe0f\\ufeff' +
  '\\u00a0\\u2000-\\u200a\\u202f\\u205f\\u3000\\u2010-\\u2015\\u2212\\uff01-\\uff5e' +
  // Lines through and under letters; letters of mathematics, in circles and squares.
  '\\u0305\\u0330-\\u0338\\u033f\\u2102-\\u2138\\u2145-\\u2149\\u24b6-\\u24e9\\u{1d400}-\\u{1d6a3}\\u{1f130}-\\u{1f149}';
const foldable = new RegExp(`[${classes}]|(?![0-9])\\p{Nd}|[\\u{e0000}-\\u{e007f}]|${entity}`, 'u');
const foldableAll = new RegExp(foldable.source, 'gu');
const foldableAlone = new RegExp(
  `^(?:[${classes}]|(?![0-9])\\p{Nd}|[\\u{e0000}-\\u{e007f}])$`,
  'u',
);
const blank = /[\u00a0\u2000-\u200a\u202f\u205f\u3000]/;
const letter = /[\u2102-\u2149\u24b6-\u24e9\u{1d400}-\u{1d6a3}\u{1f130}-\u{1f149}]/u;
const dash = /[\u2010-\u2015\u2212]/;

function foldOf(found: string): string {
  const character = found.startsWith('&') ? characterOf(found) : found;
  if (!foldableAlone.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0xff01 && code <= 0xff5e) return String.fromCharCode(code - 0xfee0);
  if (blank.test(character)) return ' ';
  if (dash.test(character)) return '-';
  if (/\p{Nd}/u.test(character)) return String(digitOf(code));
  if (!letter.test(character)) return '';
  const plain = character.normalize('NFKC');
  return /^[A-Za-z]$/.test(plain) ? plain : character;
}

/** Decimal digits stand ten in a row in Unicode; only the mathematical ones do not begin at a multiple of their row. */
function digitOf(code: number): number {
  if (code >= 0x1d7ce && code <= 0x1d7ff) return (code - 0x1d7ce) % 10;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return code - zero;
}
