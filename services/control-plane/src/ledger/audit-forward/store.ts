import { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { AuditRow } from '../audit-logs/store.ts';

/** An audit log with entries that were not forwarded, which nobody else forwards until the lease ends. */
export interface ClaimedLog {
  readonly organisationId: string;
  /** Of the last entry that the receiver took. */
  readonly sequence: bigint;
}

/** The one that waited longest of those that are behind; undefined = there is none. */
export async function claimLog(
  db: Database,
  now: Date,
  leaseMs: number,
): Promise<ClaimedLog | undefined> {
  const until = new Date(now.getTime() + leaseMs);
  const [claimed] = await db.$queryRaw<ClaimedLog[]>(Prisma.sql`
    INSERT INTO audit_forwards AS forwarded (organisation_id, lease_until)
    SELECT organisation.id, ${until}
    FROM organisations AS organisation
      LEFT JOIN audit_forwards AS known ON known.organisation_id = organisation.id
    WHERE organisation.audit_sequence > coalesce(known.sequence, 0)
      AND coalesce(known.lease_until, 'epoch') < ${now}
    ORDER BY known.lease_until NULLS FIRST
    LIMIT 1
    ON CONFLICT (organisation_id) DO UPDATE SET lease_until = excluded.lease_until
      WHERE forwarded.lease_until < ${now}
    RETURNING organisation_id AS "organisationId", sequence`);
  return claimed;
}

/** The next entries, in their order. */
export function listEntriesAfter(
  db: Database,
  { organisationId, sequence }: ClaimedLog,
  limit: number,
): Promise<AuditRow[]> {
  return db.auditEntry.findMany({
    where: { organisationId, sequence: { gt: sequence } },
    orderBy: { sequence: 'asc' },
    take: limit,
  });
}

/** The receiver has all up to here. */
export async function noteForwarded(
  db: Database,
  organisationId: string,
  sequence: bigint,
  leaseUntil: Date,
): Promise<void> {
  await db.auditForward.updateMany({
    where: { organisationId, sequence: { lt: sequence } },
    data: { sequence, leaseUntil },
  });
}

/** From then on anybody may go on. */
export async function leaveLog(db: Database, organisationId: string, until: Date): Promise<void> {
  await db.auditForward.updateMany({ where: { organisationId }, data: { leaseUntil: until } });
}

/** Entries of all organisations that the receiver does not have. */
export async function countWaitingEntries(db: Database): Promise<number> {
  const [{ waiting } = { waiting: 0n }] = await db.$queryRaw<{ waiting: bigint }[]>(Prisma.sql`
    SELECT coalesce(sum(organisation.audit_sequence - coalesce(known.sequence, 0)), 0)::bigint AS waiting
    FROM organisations AS organisation
      LEFT JOIN audit_forwards AS known ON known.organisation_id = organisation.id`);
  return Number(waiting);
}
