import type { ChargedTokens, ChatUsage, ReplyUnits } from '@sluice/contracts';
import {
  type CountedUnit,
  chargedTokens,
  countedUnits,
  namedTokens,
  otherModelTokens,
  unitKeys,
  videoUnitOf,
} from '@sluice/pricing';
import type { BegunRecord, Counts } from '@sluice/usage';
import type { Bill, PricedReply } from '../exchange/bill.ts';
import { clipped } from '../exchange/clipped.ts';
import { unitedNames } from '../exchange/progress.ts';

/** Adds what a reply was made of, and what it cost, to a record that may have those of others already. */
export function addReply(
  record: BegunRecord,
  { facts, isEstimated, isImplausible }: Bill,
  price: PricedReply | undefined,
): void {
  if (facts.usage !== undefined) addTokens(record, facts.usage);
  // Of the parts of an answer one that is estimated makes the whole an estimate.
  if (isEstimated) record.usageEstimated = true;
  record.usageReported = record.usageReported && !record.usageEstimated;
  if (isImplausible) record.usageImplausible = true;
  if (facts.units !== undefined) addUnits(record, facts.units);
  if (facts.chargedTokens !== undefined) addCharged(record, facts.chargedTokens);
  for (const { tokens } of facts.otherModels ?? []) {
    const [request, response] = otherModelTokens;
    record.units = added(record.units, request, tokens.inputTokens);
    record.units = added(record.units, response, tokens.outputTokens);
  }
  if (facts.servedTier !== undefined) record.serviceTier = clipped(facts.servedTier);
  if (facts.servedRegion !== undefined) record.servedRegion = clipped(facts.servedRegion);
  if (facts.providerCostNanoUsd !== undefined) {
    record.providerCostKnown = true;
    record.providerCostNanoUsd += facts.providerCostNanoUsd;
  }
  if (price !== undefined) addCost(record, price);
}

function addTokens(record: BegunRecord, tokens: ChatUsage): void {
  record.usageReported = true;
  record.inputTokens += tokens.inputTokens;
  record.outputTokens += tokens.outputTokens;
  record.cacheReadTokens += tokens.cacheReadTokens;
  record.cacheWriteTokens += tokens.cacheWriteTokens;
  record.cacheWrite1hTokens += tokens.cacheWrite1hTokens;
  record.reasoningTokens += tokens.reasoningTokens;
  record.inputAudioTokens += tokens.inputAudioTokens;
  record.outputAudioTokens += tokens.outputAudioTokens;
  record.cacheReadAudioTokens += tokens.cacheReadAudioTokens ?? 0;
  record.inputImageTokens += tokens.inputImageTokens ?? 0;
  record.outputImageTokens += tokens.outputImageTokens ?? 0;
  for (const [kind, name] of namedTokens) {
    const count = tokens[kind];
    if (count !== undefined && count > 0) record.units = added(record.units, name, count);
  }
}

function addCharged(record: BegunRecord, charged: ChargedTokens): void {
  for (const [kind, name] of chargedTokens) {
    const count = charged[kind] ?? 0;
    // The input says that others were charged at all.
    if (count > 0 || kind === 'inputTokens') record.units = added(record.units, name, count);
  }
}

function addUnits(record: BegunRecord, units: ReplyUnits): void {
  const images = wholeCount(units.images);
  record.images += images;
  record.searchUnits += wholeCount(units.searchUnits);
  record.pages += wholeCount(units.pages);
  record.audioSeconds += Math.min(Math.max(units.audioSeconds ?? 0, 0), countMax);
  record.characters += wholeCount(units.characters);
  if (images > 0) {
    const kind = clipped(`${units.imageQuality ?? 'default'}.${units.imageSize ?? 'default'}`);
    record.imagesByKind = added(record.imagesByKind, kind, images);
  }
  for (const [unit, name] of namedUnits) {
    const count = wholeCount(units[unit]);
    if (count > 0) record.units = added(record.units, name, count);
  }
  const seconds = wholeCount(units.videoSeconds);
  if (seconds > 0)
    record.units = added(record.units, clipped(videoUnitOf(units.videoSize)), seconds);
  if (units.searchContext !== undefined)
    record.units = added(record.units, clipped(`web_search_${units.searchContext}_context`), 1);
}

/** Those that have columns of their own in a record. */
const ownColumns = [
  'searchUnits',
  'pages',
  'audioSeconds',
  'characters',
] as const satisfies CountedUnit[];

type NamedUnit = Exclude<CountedUnit, (typeof ownColumns)[number]>;

/** The others, by their names in price lists. */
const namedUnits = countedUnits
  .filter((unit): unit is NamedUnit => !(ownColumns as readonly string[]).includes(unit))
  .map((unit) => [unit, unitKeys[unit][0] ?? unit] as const);

function added(counts: Counts, name: string, count: number): Counts {
  return new Map(counts).set(name, (counts.get(name) ?? 0) + count);
}

/** A vendor's count of what comes in wholes; the record has no place for parts of one. */
function wholeCount(count: number | undefined): number {
  return count === undefined || !(count > 0) ? 0 : Math.min(Math.round(count), countMax);
}

const countMax = 2 ** 50;

function addCost(record: BegunRecord, price: PricedReply): void {
  const { cost, unpriced, layer, version, region, multiplier } = price;
  record.costKnown = true;
  record.costNanoUsd += cost.totalNanoUsd;
  record.inputCostNanoUsd += cost.inputNanoUsd;
  record.outputCostNanoUsd += cost.outputNanoUsd;
  record.priceLayer = layer;
  record.priceBookVersion = version;
  record.servedRegion = clipped(region);
  record.priceMultiplier = multiplier;
  if (cost.isCut === true) record.usageImplausible = true;
  if (unpriced.length === 0) return;
  record.unpricedUnits = unitedNames(record.unpricedUnits, unpriced.join(','));
}
