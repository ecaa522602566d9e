import { passesLuhn } from './checksums.ts';
import type { Finder } from './finding.ts';

/** Numbers of payment cards: the check digit, and a beginning and length that somebody issues. */
export const findCards: Finder = function* (text) {
  for (const found of text.matchAll(runs)) {
    const digits = found[0].replace(/[ -]/g, '');
    if (!brands.test(digits) || !passesLuhn(digits) || /^(\d)\1+$/.test(digits)) continue;
    yield {
      type: 'CREDIT_CARD',
      start: found.index,
      end: found.index + found[0].length,
      value: digits,
    };
  }
};

/** 13 to 19 digits and no more, with a blank or dash between any two of them. */
const runs = /(?<![\p{L}\p{N}_.]|\d[ -])\d(?:[ -]?\d){12,18}(?![\p{L}\p{N}_]|[ .-]?\d)/gu;

const brands =
  /^(?:4\d{12}(?:\d{3}){0,2}|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11,16}|(?:6011|64[4-9]\d|65\d\d)\d{12,15}|35(?:2[89]|[3-8]\d)\d{12,15}|62\d{14,17}|(?:5[0678]|6[37])\d{10,17})$/;
