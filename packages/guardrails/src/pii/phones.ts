import {
  type CountryCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/min';
import type { Finder } from './finding.ts';

export { isSupportedCountry };

/**
 * Telephone numbers as their countries give them: with `+`, anywhere; as people of
 * some regions write them, where separators or a word beside them say so.
 */
export function phoneFinder(regions: readonly string[]): Finder {
  const countries = regions.filter((region): region is CountryCode => isSupportedCountry(region));
  return function* (text) {
    for (const { 0: run, index } of text.matchAll(runs)) {
      // The bracket around a number is no part of it.
      const written = run.includes('(') ? run : run.replace(/\)$/, '');
      const digits = written.replace(/\D/g, '');
      if (digits.length < 7 || digits.length > 15) continue;
      const number = numberIn(written, text, index, countries);
      if (number === undefined) continue;
      yield { type: 'PHONE_NUMBER', start: index, end: index + written.length, value: number };
    }
  };
}

/** Where groups of digits meet is always marked: a run can be read in one way only, in linear time. */
const runs =
  /(?<![\p{L}\p{N}_+.#/-]|\d[ :])(?:\+ ?)?\(?\d{1,15}\)?(?:(?:[ ./-]{1,2}\(?|(?<=\))|\()\d{1,12}\)?){0,7}(?![\p{L}\p{N}_]|[-.:/]\d)/gu;

function numberIn(
  written: string,
  text: string,
  index: number,
  countries: readonly CountryCode[],
): string | undefined {
  if (/^(\+|00)/.test(written)) return validNumber(written.replace(/^00/, '+'), undefined);
  if (datesAndSums.test(written)) return undefined;
  const isCalled = words.test(text.slice(Math.max(0, index - 32), index));
  if (!isCalled && !/^\(?\d{2,5}\)?[ ./-]+\d{2,5}[ ./-]?\d{2,5}(?:[ ./-]?\d{2,5})?$/.test(written))
    return undefined;
  if (!isCalled && notPhones.test(text.slice(Math.max(0, index - 24), index))) return undefined;
  for (const country of countries) {
    const number = validNumber(written, country);
    if (number !== undefined) return number;
  }
  return undefined;
}

function validNumber(written: string, country: CountryCode | undefined): string | undefined {
  const number = parsePhoneNumberFromString(
    written,
    country === undefined ? { extract: false } : { defaultCountry: country, extract: false },
  );
  return number?.isValid() === true ? number.number : undefined;
}

const datesAndSums =
  /^(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{2,4}|\d{1,3}(?:[.]\d{3})+)(?:[^\d.]|$)/;
const words =
  /(?:phone|tel|telephone|telefon|téléphone|mobile|mobil|cell|handy|call|fax|whatsapp|sms|text me at|ring|reach me (?:at|on))\b[^\n\p{N}]{0,16}$/iu;
const notPhones =
  /(?:order|invoice|ticket|case|ref|reference|part|serial|model|sku|isbn|issn|doi|id|no|nr|number|account|tracking)\.?\s?(?:number|no\.?|nr\.?)?\s?[:#]?\s?$/i;
