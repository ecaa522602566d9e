import { canonicalEntry, chainStart, entryHash } from '../src/audit-logs/chain.ts';
import type { Harness } from './harness.ts';

/** The sequence of the first entry of the first organisation that does not fit its place. */
export async function brokenLink(h: Harness): Promise<bigint | undefined> {
  const entries = await h.db.auditEntry.findMany({
    where: { organisationId: h.first.organisation_id },
    orderBy: { sequence: 'asc' },
  });
  let previous: Buffer = chainStart;
  for (const [index, { detail, userType, ...entry }] of entries.entries()) {
    const content = canonicalEntry(
      {
        ...entry,
        userType: userType as 'api_key',
        detail: detail === null ? undefined : JSON.parse(detail),
      },
      BigInt(index + 1),
    );
    const hash = entryHash(previous, content);
    if (!hash.equals(entry.hash) || !previous.equals(entry.previousHash)) return entry.sequence;
    previous = hash;
  }
  return undefined;
}
