import type { ReplyFacts, UnifiedRow } from '@sluice/providers';
import type { Logger } from '@sluice/telemetry';
import type { Target } from '../exchange/target.ts';
import type { LimitStore } from '../limits/limit-store.ts';
import type { LimitWatchers } from '../limits/request-limits.ts';
import { billRow } from '../money/bill-row.ts';
import { arePossible } from '../money/bounded-units.ts';
import type { UseEstimates } from '../money/estimate-use.ts';
import { priceReply } from '../money/price-attempt.ts';
import type { PriceList } from '../money/price-list.ts';
import { BillClaims } from '../owners/bill-claims.ts';
import type { OwnerLedger, OwnerNotes } from '../owners/owner-notes.ts';
import type { WorkNotes } from '../owners/work-notes.ts';
import type { SharedStore } from '../redis/shared-store.ts';
import type { UsageRecorder } from '../usage/usage-recorder.ts';
import { BatchBills } from '../visit/batch-bills.ts';
import { LateBills } from '../visit/late-bills.ts';

export interface OwnersParts {
  owners: OwnerNotes;
  /** Knows what was billed in other lives of gateways. */
  ownerLedger: OwnerLedger;
  shared: SharedStore | undefined;
  recorder: UsageRecorder;
  limits: LimitStore;
  watch: LimitWatchers;
  prices: PriceList;
  estimates: UseEstimates;
  workNotes: WorkNotes;
  logger: Logger;
}

/** Whose it is what stays at providers, and who bills what goes on there. */
export function ownersPart({
  owners,
  ownerLedger,
  shared,
  prices,
  estimates,
  workNotes,
  logger,
  ...parts
}: OwnersParts) {
  const bill = (row: Pick<UnifiedRow, 'facts' | 'asked'>, target: Target) =>
    billRow(row, target, estimates);
  const billing = {
    ...parts,
    bill,
    claims: new BillClaims(shared, ownerLedger),
    arePossible,
    price: (facts: ReplyFacts, target: Target, atMs: number) =>
      priceReply(facts, target, prices, atMs),
  };
  const lateBills = new LateBills(billing);
  const batchBills = new BatchBills({ ...billing, logger }, lateBills);
  return { owners, lateBills, workNotes, batchBills };
}
