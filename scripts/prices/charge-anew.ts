import { createHash } from 'node:crypto';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { costOfReply, type PriceBook, tokensOf, unitsOf, usedOtherModels } from '@sluice/pricing';
import { usage } from '@sluice/proto-stubs';

/** What came of pricing an attempt anew. */
export type Anew =
  | { outcome: 'same' }
  /** Administrators said its price: price lists do not change that. */
  | { outcome: 'custom' }
  /** Of other models that worked for it the record does not tell which they are. */
  | { outcome: 'others' }
  | { outcome: 'unpriced' }
  | { outcome: 'changed'; adjustment: usage.Adjustment };

/**
 * What an attempt would cost by the book as it is now, on the day it was made; the
 * adjustment is what that is more than all that was charged for it so far.
 */
export function chargeAnew(book: PriceBook, charge: usage.Charge, nowMs: number): Anew {
  const { record } = charge;
  if (record === undefined) return { outcome: 'unpriced' };
  if (record.priceLayer === 'custom') return { outcome: 'custom' };
  if (usedOtherModels(record)) return { outcome: 'others' };
  const priced = priceOf(book, record);
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

function priceOf(book: PriceBook, record: usage.UsageRecord) {
  const tokens = tokensOf(record);
  const units = unitsOf(record);
  // As when it was priced: the model that answered, unless only the one that was asked for has a price.
  for (const model of [record.responseModel, record.model]) {
    if (model === '') continue;
    const rates = book.lookUp({
      provider: record.provider,
      model,
      atMs: arrivedAtMs(record.requestId),
      tier: record.serviceTier,
      region: record.servedRegion,
    });
    const cost = rates === undefined ? undefined : costOfReply(rates, tokens, units);
    if (rates !== undefined && cost !== undefined)
      return { cost, layer: rates.layer, version: rates.version };
  }
  return undefined;
}

/** A UUIDv7 begins with the time it was made at. */
function arrivedAtMs(requestId: Uint8Array): number {
  return Buffer.from(requestId.buffer, requestId.byteOffset, 6).readUIntBE(0, 6);
}

/** The same correction of the same charge has the same id, however often it is made. */
function idOf(recordId: Uint8Array, version: string, before: bigint, after: bigint): Uint8Array {
  return createHash('sha256')
    .update(recordId)
    .update(`\0${version}\0${before}\0${after}`)
    .digest()
    .subarray(0, 16);
}
