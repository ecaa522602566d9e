import type { LimitStore } from '../limits/limit-store.ts';
import type { LimitWatchers } from '../limits/request-limits.ts';
import { priceReply } from '../money/price-attempt.ts';
import type { PriceList } from '../money/price-list.ts';
import { BillClaims } from '../owners/bill-claims.ts';
import type { OwnerNotes } from '../owners/owner-notes.ts';
import type { WorkNotes } from '../owners/work-notes.ts';
import type { SharedStore } from '../redis/shared-store.ts';
import type { UsageRecorder } from '../usage/usage-recorder.ts';
import { LateBills } from '../visit/late-bills.ts';

export interface OwnersParts {
  owners: OwnerNotes;
  shared: SharedStore | undefined;
  recorder: UsageRecorder;
  limits: LimitStore;
  watch: LimitWatchers;
  prices: PriceList;
  workNotes: WorkNotes;
}

/** Whose it is what stays at providers, and who bills what goes on there. */
export function ownersPart({ owners, shared, prices, workNotes, ...parts }: OwnersParts) {
  const lateBills = new LateBills({
    ...parts,
    claims: new BillClaims(shared),
    price: (facts, target, atMs) => priceReply(facts, target, prices, atMs),
  });
  return { owners, lateBills, workNotes };
}
