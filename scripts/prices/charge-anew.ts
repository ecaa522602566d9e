import { createHash } from 'node:crypto';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  costOfMoreTokens,
  costOfReply,
  type PriceBook,
  priceQueryOf,
  sumOfCosts,
  tokensOf,
  unitsOf,
  usedOtherModels,
} from '@sluice/pricing';
import { usage } from '@sluice/proto-stubs';

/** What came of pricing an attempt anew. */
export type Anew =
  | { outcome: 'same' }
  /** Administrators said its price, or what it cost where nobody knew: price lists do not change that. */
  | { outcome: 'custom' }
  /** Of other models that worked for it the record does not tell which they are. */
  | { outcome: 'others' }
  | { outcome: 'unpriced' }
  | { outcome: 'changed'; adjustment: usage.Adjustment };

/**
 * What an attempt would cost by the book as it is now, when its request came in, with the tokens that were counted or
 * said later; the adjustment is what that is more than prices charged for it so far. What administrators added to that
 * or gave back stays added.
 */
export function chargeAnew(book: PriceBook, charge: usage.Charge, nowMs: number): Anew {
  const { record } = charge;
  if (record === undefined) return { outcome: 'unpriced' };
  if (record.priceLayer === 'custom' || charge.costSaid) return { outcome: 'custom' };
  if (usedOtherModels(record)) return { outcome: 'others' };
  const priced = priceOf(book, charge, record);
  if (priced === undefined) return { outcome: 'unpriced' };
  const factor = record.priceMultiplier > 0 ? record.priceMultiplier : 1;
  const anew = (nanoUsd: number) => BigInt(Math.round(nanoUsd * factor));
  const so = {
    total: soFar(record, record.costNanoUsd) + charge.adjustedNanoUsd,
    input: soFar(record, record.inputCostNanoUsd) + charge.adjustedInputNanoUsd,
    output: soFar(record, record.outputCostNanoUsd) + charge.adjustedOutputNanoUsd,
  };
  const { cost, layer, version } = priced;
  const total = anew(cost.totalNanoUsd);
  const isKnown = record.costKnown || charge.adjusted;
  if (isKnown && total === so.total) return { outcome: 'same' };
  const adjustment: MessageInitShape<typeof usage.AdjustmentSchema> = {
    id: idOf(record.id, version, so.total, total),
    recordId: record.id,
    organisationId: record.organisationId,
    workspaceId: record.workspaceId,
    attemptCreatedAtMs: record.createdAtMs,
    createdAtMs: BigInt(nowMs),
    costNanoUsd: total - so.total,
    inputCostNanoUsd: anew(cost.inputNanoUsd) - so.input,
    outputCostNanoUsd: anew(cost.outputNanoUsd) - so.output,
    makesKnown: !isKnown,
    priceLayer: layer,
    priceBookVersion: version,
    reason: 'reprice',
  };
  return { outcome: 'changed', adjustment: create(usage.AdjustmentSchema, adjustment) };
}

function soFar(record: usage.UsageRecord, nanoUsd: bigint): bigint {
  return record.costKnown ? nanoUsd : 0n;
}

function priceOf(book: PriceBook, charge: usage.Charge, record: usage.UsageRecord) {
  const tokens = tokensOf(record);
  const units = unitsOf(record);
  const more = {
    input: Number(charge.moreInputTokens),
    output: Number(charge.moreOutputTokens),
  };
  // As when it was priced: the model that answered, unless only the one that was asked for has a price.
  for (const model of [record.responseModel, record.model]) {
    if (model === '') continue;
    const rates = book.lookUp(priceQueryOf(record, model));
    const cost = rates === undefined ? undefined : costOfReply(rates, tokens, units);
    if (rates === undefined || cost === undefined) continue;
    const { layer, version } = rates;
    if (more.input === 0 && more.output === 0) return { cost, layer, version };
    if (rates.tiers.length > 0)
      return { cost: sumOfCosts(cost, costOfMoreTokens(rates, record, more)), layer, version };
  }
  return undefined;
}

/** The same correction of the same charge has the same id, however often it is made. */
function idOf(recordId: Uint8Array, version: string, before: bigint, after: bigint): Uint8Array {
  return createHash('sha256')
    .update(recordId)
    .update(`\0${version}\0${before}\0${after}`)
    .digest()
    .subarray(0, 16);
}
