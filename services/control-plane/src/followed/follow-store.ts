import { type FollowedWork, Prisma } from '../generated/prisma/client.ts';
import type { Database } from '../kernel/database/client.ts';

export type WorkRow = FollowedWork;

/** How many of these workspaces' works are followed now. */
export async function countOpenWork(
  db: Database,
  workspaceIds: readonly string[],
): Promise<Map<string, number>> {
  const counts = await db.followedWork.groupBy({
    by: ['workspaceId'],
    where: { workspaceId: { in: [...workspaceIds] }, state: 'open' },
    _count: true,
  });
  return new Map(counts.map(({ workspaceId, _count }) => [workspaceId, _count]));
}

/** What is known already stays as it is, also when it has ended. */
export async function insertWork(
  db: Database,
  data: Prisma.FollowedWorkCreateManyInput[],
): Promise<void> {
  await db.followedWork.createMany({ data, skipDuplicates: true });
}

const inMs = (ms: number) => Prisma.sql`clock_timestamp() + ${ms} * interval '1 millisecond'`;

/** Takes up work that is due, what has waited longest first; for so long nobody else does. */
export async function claimLooks(
  db: Database,
  { kinds, leaseMs, max }: { kinds: readonly string[]; leaseMs: number; max: number },
): Promise<WorkRow[]> {
  const rows = await db.$queryRaw<{ id: string }[]>(Prisma.sql`
    UPDATE followed_work SET run = run + 1, look_at = ${inMs(leaseMs)}
    WHERE id IN (
      SELECT id FROM followed_work
      WHERE state = 'open' AND look_at <= clock_timestamp() AND kind = ANY(${[...kinds]})
      ORDER BY look_at LIMIT ${max} FOR UPDATE SKIP LOCKED)
    RETURNING id::text`);
  if (rows.length === 0) return [];
  return db.followedWork.findMany({ where: { id: { in: rows.map(({ id }) => id) } } });
}

/** One look: what is said for an earlier one is not heard. */
export interface LookOf {
  readonly id: string;
  readonly run: number;
}

/** False = somebody else looks at it, or it has ended. */
export async function noteOpen(
  db: Database,
  { id, run }: LookOf,
  { afterMs, failures }: { afterMs: number; failures: number },
): Promise<boolean> {
  const count = await db.$executeRaw(Prisma.sql`
    UPDATE followed_work SET look_at = ${inMs(afterMs)}, failures = ${failures}
    WHERE id = ${id}::uuid AND run = ${run} AND state = 'open'`);
  return count === 1;
}

export async function noteEnd(
  db: Database,
  { id, run }: LookOf,
  { state, reason }: { state: string; reason: string },
  now: Date,
): Promise<boolean> {
  const { count } = await db.followedWork.updateMany({
    where: { id, run, state: 'open' },
    data: { state, reason, endedAt: now },
  });
  return count === 1;
}

export async function countFollowed(
  db: Database,
): Promise<{ followed: number; oldestAt: Date | null }> {
  const { _count, _min } = await db.followedWork.aggregate({
    where: { state: 'open' },
    _count: true,
    _min: { madeAt: true },
  });
  return { followed: _count, oldestAt: _min.madeAt };
}

/** Notes may come late, and must not begin anew what has ended: it is known for a while. */
export async function forgetEnded(db: Database, before: Date, max: number): Promise<void> {
  await db.$executeRaw(Prisma.sql`
    DELETE FROM followed_work WHERE id IN (
      SELECT id FROM followed_work WHERE ended_at < ${before} LIMIT ${max} FOR UPDATE SKIP LOCKED)`);
}
