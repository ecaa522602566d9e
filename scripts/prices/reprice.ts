import { toBinary } from '@bufbuild/protobuf';
import type { PriceBook } from '@sluice/pricing';
import { usage } from '@sluice/proto-stubs';
import type { RpcClient } from '@sluice/rpc';
import { encodeEntry } from '@sluice/usage';
import { chargeAnew } from './charge-anew.ts';

export interface RepriceOptions {
  fromMs: number;
  toMs: number;
  /** Empty = all. */
  organisationId: string;
  /** Only tells what would change. */
  isDryRun: boolean;
}

export interface Repriced {
  seen: number;
  changed: number;
  /** Priced by administrators, and left as they are. */
  custom: number;
  /** Charged for other models as well, and left as they are. */
  others: number;
  /** Without a known price, before and now. */
  unpriced: number;
  addedNanoUsd: bigint;
}

const dayMs = 24 * 3600 * 1000;
const entriesPerCall = 500;
const callMs = 60_000;

/**
 * Prices the attempts of a period anew, day by day. Records stay as they are:
 * what is different becomes entries beside them, so a second run changes nothing.
 */
export async function reprice(
  client: RpcClient,
  book: PriceBook,
  { fromMs, toMs, organisationId, isDryRun }: RepriceOptions,
): Promise<Repriced> {
  const result: Repriced = {
    seen: 0,
    changed: 0,
    custom: 0,
    others: 0,
    unpriced: 0,
    addedNanoUsd: 0n,
  };
  for (let at = fromMs; at < toMs; at += dayMs) {
    const day = { fromMs: BigInt(at), toMs: BigInt(Math.min(at + dayMs, toMs)), organisationId };
    const stream = client.serverStream(usage.UsageService.method.listCharges, day);
    for await (const { charges } of stream as AsyncIterable<usage.ListChargesResponse>) {
      const entries: Uint8Array[] = [];
      for (const charge of charges) {
        const anew = chargeAnew(book, charge, Date.now());
        result.seen += 1;
        if (anew.outcome === 'custom') result.custom += 1;
        if (anew.outcome === 'others') result.others += 1;
        if (anew.outcome === 'unpriced') result.unpriced += 1;
        if (anew.outcome !== 'changed') continue;
        result.changed += 1;
        result.addedNanoUsd += anew.adjustment.costNanoUsd;
        const body = toBinary(usage.AdjustmentSchema, anew.adjustment);
        entries.push(encodeEntry(usage.EntryKind.ADJUSTMENT, body));
      }
      for (let first = 0; !isDryRun && first < entries.length; first += entriesPerCall)
        await client.unary(
          usage.UsageService.method.writeUsage,
          { records: entries.slice(first, first + entriesPerCall) },
          { timeoutMs: callMs },
        );
    }
  }
  return result;
}
