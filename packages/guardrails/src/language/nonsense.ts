import { lettersIn } from './spoken-pieces.ts';
import type { Told } from './tell-languages.ts';

/** Whether a piece is letters without sense: like no language, or what hands make of a keyboard. */
export function isNonsense(piece: string, { fit }: Told): boolean {
  if (isMashed(piece)) return true;
  // Of scripts that one language or two write, and of short words, the table has everything.
  return fit < fitMin;
}

/** Real sentences have 0.5 to 0.9; names, slang and languages that are not in the table from 0.3 on. */
const fitMin = 0.3;

/** Most letters stand in words of one row of a keyboard, or in one letter said over and over. */
function isMashed(piece: string): boolean {
  let mashed = 0;
  for (const [word] of piece.matchAll(/\p{L}{5,60}/gu))
    if (isOfOneRow(word.toLowerCase()) || /^(\p{L})\1{4,}$/u.test(word)) mashed += word.length;
  return mashed > 0 && mashed >= lettersIn(piece) * 0.5;
}

function isOfOneRow(word: string): boolean {
  return rows.some((row) => {
    for (const letter of word) if (!row.has(letter)) return false;
    return true;
  });
}

/** Rows in which hardly any word has five letters; the upper row of Latin keyboards has too many. */
const rows: readonly ReadonlySet<string>[] = [
  'asdfghjklöä',
  'zxcvbnmy',
  'йцукенгшщзхъ',
  'ячсмитьбю',
  'фывапролджэ',
  'ασδφγηξκλ',
  'ζχψωβνμ',
  'شسيبلاتنمكط',
  'ضصثقفغعهخحجد',
  'ئءؤرىةوزظ',
  'שדגכעיחלךף',
  'קראטוןםפ',
  'זסבהנמצתץ',
].map((letters) => new Set(letters));
