import { passesLuhn, passesMod1110, passesVerhoeff, remainderBy, weighted } from './checksums.ts';
import type { Finder, Finding } from './finding.ts';

/** A number that a state gives its people. */
interface NationalId {
  /** Which state's; ISO 3166. */
  readonly country: string;
  /** Digits and letters without separators. */
  isValid(compact: string): boolean;
  /** How it is written; matched on the compact form. */
  readonly form: RegExp;
  /** As people write it with separators: such a form says what it is. */
  readonly written?: RegExp;
  /** Words near it, where the number by itself says too little: one in ten has its check digit. */
  readonly words?: RegExp;
}

const ids: readonly NationalId[] = [
  {
    country: 'US',
    form: /^(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}$/,
    written: /^\d{3}-\d{2}-\d{4}$/,
    words: /\b(ssn|social security)\b/i,
    isValid: () => true,
  },
  {
    country: 'GB',
    form: /^(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]$/i,
    isValid: () => true,
  },
  {
    country: 'GB',
    form: /^\d{10}$/,
    words: /\bnhs\b/i,
    isValid: (digits) => {
      const check = 11 - (weighted(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11);
      return check !== 10 && check % 11 === Number(digits[9]);
    },
  },
  {
    country: 'DE',
    form: /^[1-9]\d{10}$/,
    written: /^\d{2} \d{3} \d{3} \d{3}$/,
    words: /steuer|identifikationsnummer|\bidnr\b|\btin\b|tax id/i,
    isValid: passesMod1110,
  },
  {
    country: 'FR',
    form: /^[12]\d{2}(0[1-9]|1[0-2]|[2-9]\d)(\d{2}|2[AB])\d{8}$/i,
    isValid: (compact) => {
      const number = compact.toUpperCase().replace('2A', '19').replace('2B', '18');
      return 97 - remainderBy(number.slice(0, 13), 97) === Number(number.slice(13));
    },
  },
  {
    country: 'ES',
    form: /^[XYZ0-9]\d{7}[A-Z]$/i,
    isValid: (compact) => {
      const digits = compact
        .toUpperCase()
        .replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter)));
      return 'TRWAGMYFPDXBNJZSQVHLCKE'[Number(digits.slice(0, 8)) % 23] === digits[8];
    },
  },
  {
    country: 'IT',
    form: /^[A-Z]{6}[0-9LMNP-V]{2}[A-EHLMPR-T][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]$/i,
    isValid: passesCodiceFiscale,
  },
  {
    country: 'NL',
    form: /^\d{9}$/,
    words: /\b(bsn|burgerservicenummer|sofi)/i,
    isValid: (digits) =>
      Number(digits) > 0 && weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0,
  },
  {
    country: 'BE',
    form: /^\d{2}(0\d|1[0-2])([0-2]\d|3[01])\d{5}$/,
    written: /^\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}$/,
    words: /rijksregister|registre national|\binsz\b|\bniss\b/i,
    isValid: (digits) =>
      ['', '2'].some(
        (century) => 97 - remainderBy(century + digits.slice(0, 9), 97) === Number(digits.slice(9)),
      ),
  },
  {
    country: 'PL',
    form: /^\d{2}([0-9][0-9])(0[1-9]|[12]\d|3[01])\d{5}$/,
    words: /\bpesel\b/i,
    isValid: (digits) =>
      weighted(digits, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0 &&
      Number(digits.slice(2, 4)) % 20 >= 1 &&
      Number(digits.slice(2, 4)) % 20 <= 12,
  },
  {
    country: 'SE',
    form: /^(19|20)?\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])\d{4}$/,
    written: /^\d{6}(\d{2})?[-+]\d{4}$/,
    words: /personnummer|person-?nr/i,
    isValid: (digits) => passesLuhn(digits.slice(-10)),
  },
  {
    country: 'FI',
    form: /^(0[1-9]|[12]\d|3[01])(0[1-9]|1[0-2])\d{2}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]$/i,
    isValid: (text) =>
      '0123456789ABCDEFHJKLMNPRSTUVWXY'[Number(text.slice(0, 6) + text.slice(7, 10)) % 31] ===
      text[10]?.toUpperCase(),
  },
  {
    country: 'NO',
    form: /^([04][1-9]|[1256]\d|[37][01])(0[1-9]|1[0-2])\d{7}$/,
    words: /f(ø|o)dselsnummer|personnummer|\bfnr\b/i,
    isValid: (digits) =>
      weighted(digits, [3, 7, 6, 1, 8, 9, 4, 5, 2, 1]) % 11 === 0 &&
      weighted(digits, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0,
  },
  {
    country: 'BR',
    form: /^(?!(\d)\1{10})\d{11}$/,
    written: /^\d{3}\.\d{3}\.\d{3}-\d{2}$/,
    words: /\bcpf\b/i,
    isValid: (digits) =>
      [9, 10].every((length) => {
        const weights = Array.from({ length }, (_, at) => length + 1 - at);
        return ((weighted(digits, weights) * 10) % 11) % 10 === Number(digits[length]);
      }),
  },
  {
    country: 'IN',
    form: /^[2-9]\d{11}$/,
    written: /^\d{4}[ -]\d{4}[ -]\d{4}$/,
    words: /aadha+r|\buidai?\b/i,
    isValid: passesVerhoeff,
  },
  {
    country: 'CA',
    form: /^[1-79]\d{8}$/,
    words: /\bsin\b|social insurance|\bnas\b/i,
    isValid: passesLuhn,
  },
  {
    country: 'AU',
    form: /^\d{9}$/,
    words: /\btfn\b|tax file/i,
    isValid: (digits) =>
      Number(digits) > 0 && weighted(digits, [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0,
  },
  {
    country: 'CN',
    form: /^[1-9]\d{5}(19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])\d{3}[0-9X]$/i,
    isValid: (text) =>
      '10X98765432'[weighted(text, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11] ===
      text[17]?.toUpperCase(),
  },
  {
    country: 'PT',
    form: /^[1-35]\d{8}$/,
    words: /\bnif\b|contribuinte/i,
    isValid: (digits) => {
      const check = 11 - (weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2]) % 11);
      return (check > 9 ? 0 : check) === Number(digits[8]);
    },
  },
];

const oddValues = [
  1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
];

function passesCodiceFiscale(text: string): boolean {
  let sum = 0;
  for (const [at, character] of [...text.toUpperCase().slice(0, 15)].entries()) {
    const value = Number.parseInt(character, 36);
    const place = value > 9 ? value - 10 : value;
    sum += at % 2 === 0 ? (oddValues[place] ?? 0) : place;
  }
  return String.fromCharCode(65 + (sum % 26)) === text[15]?.toUpperCase();
}

/**
 * A run that some id could be: digits, with separators and a few letters between.
 * Bounded, so that a megabyte of digits is cut into as many looks as it has runs.
 */
const runs =
  /(?<![\p{L}\p{N}_])(?:[A-Z]{0,6}\d[A-Z0-9]{0,17}(?:[ ./+-][A-Z0-9]{1,9}){0,7})(?![\p{L}\p{N}_])/giu;

export const findNationalIds: Finder = function* (text): Iterable<Finding> {
  for (const found of text.matchAll(runs)) {
    const finding = idAt(text, found.index, found[0]);
    if (finding !== undefined) yield finding;
  }
  for (const { 0: written, index } of text.matchAll(spacedInsuranceNumbers)) {
    const finding = readId(text, index, written);
    if (finding !== undefined) yield finding;
  }
};

/** Britain's begin with letters and a blank, as words before other numbers do. */
const spacedInsuranceNumbers =
  /(?<![\p{L}\p{N}_])[A-Z]{2} \d{2} ?\d{2} ?\d{2} ?[A-D](?![\p{L}\p{N}_])/giu;

function idAt(text: string, index: number, run: string): Finding | undefined {
  if (digitsIn(run) < 6) return undefined;
  // What follows after a blank may be the sentence going on: shorter runs count too.
  for (let end = run.length; end >= 8; end = run.lastIndexOf(' ', end - 1)) {
    const written = run.slice(0, end);
    const finding = readId(text, index, written);
    if (finding !== undefined) return finding;
  }
  return undefined;
}

function readId(text: string, start: number, written: string): Finding | undefined {
  // Most runs are words and small numbers: those are done with before anything is made of them.
  if (digitsIn(written) < 6) return undefined;
  const compact = written.replace(/[ ./-]/g, '');
  // Finland's has a sign in it that says the century.
  const signed = written.replace(/[ ./]/g, '');
  if (compact.length < 8 || compact.length > 18) return undefined;
  for (const id of ids) {
    const given = id.country === 'FI' ? signed : compact;
    if (!id.form.test(given) || !id.isValid(given)) continue;
    const saysItself = id.words === undefined || id.written?.test(written);
    if (!saysItself && !id.words?.test(text.slice(Math.max(0, start - wordsBefore), start)))
      continue;
    const value = `${id.country} ${compact.toUpperCase()}`;
    return { type: 'NATIONAL_ID', start, end: start + written.length, value };
  }
  return undefined;
}

function digitsIn(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x30 && unit <= 0x39) count++;
  }
  return count;
}

/** How far before a number the word may stand that says what it is. */
const wordsBefore = 48;
