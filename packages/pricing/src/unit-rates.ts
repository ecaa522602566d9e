import type { ModelPrice } from '@pydantic/genai-prices';

/** What of a reply is charged by other units than tokens. Absent = none, or nobody counted. */
export interface UnitCounts {
  searchUnits?: number | undefined;
  pages?: number | undefined;
  /** The part of the pages that were annotated, too. */
  annotatedPages?: number | undefined;
  audioSeconds?: number | undefined;
  characters?: number | undefined;
}

/** Nano-dollars for one of each; undefined = no price is listed. */
export type UnitRates = { readonly [Unit in keyof UnitCounts]?: number | undefined };

/** The catalogue's key, and how many nano-dollars a unit costs for each dollar listed. */
const listed: readonly (readonly [keyof UnitCounts, string, number])[] = [
  ['searchUnits', 'rerank_searches_kcount', 1e6],
  ['pages', 'input_document_kpages', 1e6],
  ['annotatedPages', 'input_annotated_document_kpages', 1e6],
  // Of all sound, and of sound that goes in: the more exact one wins.
  ['audioSeconds', 'audio_hours', 1e9 / 3600],
  ['audioSeconds', 'input_audio_hours', 1e9 / 3600],
  ['characters', 'input_mchars', 1e3],
];

/** Undefined when the model has no price but for tokens. */
export function unitRates(price: ModelPrice): UnitRates | undefined {
  const rates: { [Unit in keyof UnitCounts]?: number } = {};
  for (const [unit, key, nanoUsd] of listed) {
    const value = price[key];
    // A price that depends on how much there is of it is not one of these.
    if (typeof value === 'number') rates[unit] = Number((value * nanoUsd).toPrecision(12));
  }
  return Object.keys(rates).length === 0 ? undefined : rates;
}

/** Fractional. Undefined when none of what was counted has a price. */
export function unitsNanoUsd(
  rates: UnitRates | undefined,
  counts: UnitCounts | undefined,
): number | undefined {
  if (rates === undefined || counts === undefined) return undefined;
  const annotated = rates.annotatedPages === undefined ? 0 : (counts.annotatedPages ?? 0);
  let total: number | undefined;
  for (const unit of units) {
    const rate = rates[unit];
    const count = unit === 'annotatedPages' ? annotated : counts[unit];
    if (rate === undefined || count === undefined) continue;
    const charged = unit === 'pages' ? count - annotated : count;
    total = (total ?? 0) + (Math.max(charged, 0) || 0) * rate;
  }
  return total;
}

const units = ['searchUnits', 'pages', 'annotatedPages', 'audioSeconds', 'characters'] as const;
