import { remainderBy } from './checksums.ts';
import type { Finder } from './finding.ts';

/** Account numbers, of the length that their country's have. */
export const findIbans: Finder = function* (text) {
  for (const found of text.matchAll(starts)) {
    const country = found[0].slice(0, 2).toUpperCase();
    const length = lengths.get(country);
    if (length === undefined) continue;
    const end = endOfIban(text, found.index, length);
    if (end === undefined) continue;
    const value = text.slice(found.index, end).replace(/[ -]/g, '').toUpperCase();
    if (remainderBy(value.slice(4) + value.slice(0, 4), 97) !== 1) continue;
    yield { type: 'IBAN', start: found.index, end, value };
  }
};

const starts = /(?<![A-Za-z0-9])[A-Za-z]{2}[ -]?\d{2}(?=[ -]?[A-Za-z0-9])/g;

/** Behind so many letters and digits, with one separator between any two of them. */
function endOfIban(text: string, start: number, length: number): number | undefined {
  let count = 0;
  let at = start;
  for (; count < length; at++) {
    const unit = text[at];
    if (unit === undefined) return undefined;
    if (/[A-Za-z0-9]/.test(unit)) count++;
    else if (!/[ -]/.test(unit) || !/[A-Za-z0-9]/.test(text[at - 1] ?? '')) return undefined;
  }
  return /[A-Za-z0-9]/.test(text[at] ?? '') ? undefined : at;
}

const lengths: ReadonlyMap<string, number> = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 ' +
    'FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ' +
    'ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ' +
    'ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);
