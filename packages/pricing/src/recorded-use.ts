import { type ChatUsage, noUsage, type ReplyUnits } from '@sluice/contracts';
import type { PriceQuery } from './price-book.ts';
import { sizedVideoUnit, tokenKeys, tokenUnits, unitKeys, videoUnit } from './price-keys.ts';
import { tokenKinds } from './token-prices.ts';
import { type CountedUnit, countedUnits } from './unit-counts.ts';

type Count = bigint | number;

/** What an attempt used, as the ledger's record has it. */
export interface RecordedUse {
  readonly usageReported: boolean;
  readonly usageEstimated: boolean;
  readonly inputTokens: Count;
  readonly outputTokens: Count;
  readonly cacheReadTokens: Count;
  readonly cacheWriteTokens: Count;
  readonly cacheWrite1hTokens: Count;
  readonly reasoningTokens: Count;
  readonly inputAudioTokens: Count;
  readonly outputAudioTokens: Count;
  readonly cacheReadAudioTokens: Count;
  readonly inputImageTokens: Count;
  readonly outputImageTokens: Count;
  readonly searchUnits: Count;
  readonly pages: Count;
  readonly audioSeconds: Count;
  readonly characters: Count;
  readonly images: Count;
  readonly imagesByKind: Readonly<Record<string, Count>>;
  /** By their names in price lists. */
  readonly units: Readonly<Record<string, Count>>;
}

/** What decides which price of a model an attempt has, as the ledger's record has it. */
export interface RecordedServing {
  /** A UUIDv7. */
  readonly requestId: Uint8Array;
  readonly provider: string;
  readonly serviceTier: string;
  readonly servedRegion: string;
}

type NamedKind = readonly [kind: keyof ChatUsage, name: string];

/** Kinds of tokens that few replies have: among a record's units, by their names in price lists. */
export const namedTokens = [
  ['inputVideoTokens', 'input_video_token'],
  ['outputVideoTokens', 'output_video_token'],
  ['cacheReadImageTokens', 'cache_read_image_input_token'],
  ['citationTokens', 'citation_token'],
] as const satisfies readonly NamedKind[];

/** Kinds of tokens that were charged in place of those of the reply: likewise, `charged_` before the name. */
export const chargedTokens: readonly NamedKind[] = tokenKinds.map((kind) => [
  `${kind}Tokens`,
  `charged_${tokenKeys[kind][0] ?? tokenUnits[kind]}`,
]);

/** Tokens of other models that worked for the reply, in and out, all together: of which models they are is not recorded. */
export const otherModelTokens = [
  'other_model_request_token',
  'other_model_response_token',
] as const;

/** What other models used was charged by their prices: of such a record the cost cannot be reckoned anew. */
export function usedOtherModels({ units }: Pick<RecordedUse, 'units'>): boolean {
  return otherModelTokens.some((name) => units[name] !== undefined);
}

/** By what the prices of an attempt are looked up: as when it was charged, at the time at which its request came in. */
export function priceQueryOf(record: RecordedServing, model: string): PriceQuery {
  const { requestId } = record;
  return {
    provider: record.provider,
    model,
    // A UUIDv7 begins with the time it was made at.
    atMs: Buffer.from(requestId.buffer, requestId.byteOffset, 6).readUIntBE(0, 6),
    tier: record.serviceTier,
    region: record.servedRegion,
  };
}

/** Its tokens as they are charged; undefined = none were told. */
export function tokensOf(record: RecordedUse): ChatUsage | undefined {
  const { units } = record;
  const ofKinds = (kinds: readonly NamedKind[]): Partial<ChatUsage> =>
    Object.fromEntries(kinds.map(([kind, name]) => [kind, Number(units[name] ?? 0)]));
  if (units.charged_request_token !== undefined) return { ...noUsage, ...ofKinds(chargedTokens) };
  if (!record.usageReported && !record.usageEstimated) return undefined;
  return {
    inputTokens: Number(record.inputTokens),
    outputTokens: Number(record.outputTokens),
    cacheReadTokens: Number(record.cacheReadTokens),
    cacheWriteTokens: Number(record.cacheWriteTokens),
    cacheWrite1hTokens: Number(record.cacheWrite1hTokens),
    reasoningTokens: Number(record.reasoningTokens),
    inputAudioTokens: Number(record.inputAudioTokens),
    outputAudioTokens: Number(record.outputAudioTokens),
    cacheReadAudioTokens: Number(record.cacheReadAudioTokens),
    inputImageTokens: Number(record.inputImageTokens),
    outputImageTokens: Number(record.outputImageTokens),
    ...ofKinds(namedTokens),
  };
}

/** What of it is charged by other units. */
export function unitsOf(record: RecordedUse): ReplyUnits | undefined {
  const units: ReplyUnits = {};
  const columns: Partial<Record<CountedUnit, bigint | number>> = {
    searchUnits: record.searchUnits,
    pages: record.pages,
    audioSeconds: record.audioSeconds,
    characters: record.characters,
  };
  for (const unit of countedUnits) {
    const count = Number(columns[unit] ?? record.units[unitKeys[unit][0] ?? ''] ?? 0);
    if (count > 0) units[unit] = count;
  }
  const [kind] = Object.keys(record.imagesByKind);
  if (record.images > 0n) units.images = Number(record.images);
  if (kind !== undefined) {
    const [quality = '', size = ''] = kind.split('.');
    if (quality !== 'default') units.imageQuality = quality;
    if (size !== 'default') units.imageSize = size;
  }
  for (const [name, count] of Object.entries(record.units)) {
    const [, width, height] = sizedVideoUnit.exec(name) ?? [];
    if (name === videoUnit || width !== undefined) units.videoSeconds = Number(count);
    if (width !== undefined) units.videoSize = `${width}x${height}`;
    const [, size] = /^web_search_(\w+)_context$/.exec(name) ?? [];
    if (size !== undefined) units.searchContext = size;
  }
  return Object.keys(units).length === 0 ? undefined : units;
}
