import type { CachedInBatches, ImagePrices, VideoPrices } from '../listed-model.ts';
import type { TokenPrices } from '../token-prices.ts';

/**
 * What public price lists say and the catalogue leaves out, by hand. No row is from memory
 * or inferred from another model's: what nobody lists is unknown, and has no row.
 * Dollars as the lists have them: tokens and characters by the million, calls by
 * the thousand, images by the piece.
 */
export interface Correction {
  readonly providers: readonly string[];
  readonly models: RegExp;
  /** The list that says so, read itself or in a public copy, and the day of that. */
  readonly source: string;
  readonly readOn: string;
  /** In force from this day, UTC, as `2026-12-01`; absent = since there is the model. */
  readonly from?: string;
  /** Not in force from this day on. */
  readonly until?: string;
  /** In force in these hours alone, UTC. */
  readonly hours?: readonly {
    /** Of the week, 0 = Sunday. */
    readonly days: readonly number[];
    readonly from: number;
    /** Not in force from this hour on. */
    readonly until: number;
  }[];
  /** By service tier: a factor on all tokens and images, or the tokens' prices. */
  readonly tiers?: Readonly<Record<string, number | TokenPrices>>;
  /** What of the input comes from the vendor's cache costs in a batch what it does without one, or what the batch's other input does. */
  readonly cachedInBatches?: CachedInBatches;
  /** Places of which all tokens cost so much more. */
  readonly regions?: { readonly names: readonly string[]; readonly factor: number };
  /** The factor holds everywhere but in these. */
  readonly elsewhere?: { readonly but: readonly string[]; readonly factor: number };
  readonly perMillionTokens?: TokenPrices;
  /** Of requests with more input tokens, caches included, than a threshold: all of their tokens. */
  readonly contextTiers?: readonly {
    readonly above: number;
    readonly perMillionTokens: TokenPrices;
  }[];
  readonly perMillionCharacters?: number;
  /** Of sound. */
  readonly perMinute?: number;
  /** Sound that is shorter is charged as so many seconds. */
  readonly leastAudioSeconds?: number;
  readonly perThousand?: Partial<
    Record<
      | 'searchUnits'
      | 'webSearches'
      | 'previewSearches'
      | 'fileSearches'
      | 'xSearches'
      | 'attachmentSearches'
      | 'mapSearches'
      | 'codeExecutions',
      number
    >
  >;
  /** For the request, by how much of the web is read. */
  readonly perThousandRequests?: Readonly<Record<string, number>>;
  readonly perImage?: ImagePrices;
  /** For a second, by size. */
  readonly perVideoSecond?: VideoPrices;
  /** What training costs: a million tokens, or an hour. */
  readonly perMillionTrained?: number;
  readonly perTrainingHour?: number;
}
