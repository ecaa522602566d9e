import { verifyOrganisation } from '../../src/ledger/audit-logs/verify-organisation.ts';
import type { Harness } from './harness.ts';

/** The sequence of the first entry of the first organisation that does not fit its place. */
export async function brokenLink(h: Harness): Promise<bigint | undefined> {
  return (await verifyOrganisation(h.db, h.first.organisation_id)).fault?.sequence;
}
