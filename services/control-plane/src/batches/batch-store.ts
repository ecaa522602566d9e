import { type Batch, Prisma } from '../generated/prisma/client.ts';
import { behind } from '../kernel/database/behind.ts';
import type { Database } from '../kernel/database/client.ts';

export type BatchRow = Batch;

/** States of a batch that somebody works at, or is to. */
export const openStates = ['validating', 'in_progress', 'finalizing', 'cancelling'];

/** What is run alike: a batch, or one response in the background. */
export type BatchKind = 'batch' | 'response';

export function findBatch(
  db: Database,
  where: { id: string; workspaceId?: string; kind?: BatchKind },
): Promise<BatchRow | null> {
  return db.batch.findFirst({ where });
}

export function countOpenBatches(
  db: Database,
  workspaceId: string,
  kind: BatchKind,
): Promise<number> {
  return db.batch.count({ where: { workspaceId, kind, status: { in: openStates } } });
}

export function insertBatch(
  db: Database,
  data: Prisma.BatchUncheckedCreateInput,
): Promise<BatchRow> {
  return db.batch.create({ data });
}

/** One more than asked for, where there are more; the newest first. */
export function listBatches(
  db: Database,
  { workspaceId, after, limit }: { workspaceId: string; after: string | undefined; limit: number },
): Promise<BatchRow[]> {
  return db.batch.findMany({
    where: { workspaceId, kind: 'batch', ...(after !== undefined && { id: { lt: after } }) },
    orderBy: { id: 'desc' },
    take: limit + 1,
  });
}

/** False = it is over, or being put together. */
export async function markCancelling(
  db: Database,
  { id, workspaceId, kind }: { id: string; workspaceId: string; kind: BatchKind },
  now: Date,
): Promise<boolean> {
  const { count } = await db.batch.updateMany({
    where: { id, workspaceId, kind, status: { in: ['validating', 'in_progress'] } },
    data: { status: 'cancelling', cancellingAt: now },
  });
  return count === 1;
}

const lease = (ms: number) => Prisma.sql`clock_timestamp() + ${ms} * interval '1 millisecond'`;

/** Takes up a batch that nobody works at: of the workspace that has fewest under way, the first that was made. */
export async function claimBatch(
  db: Database,
  kind: BatchKind,
  leaseMs: number,
): Promise<BatchRow | undefined> {
  const rows = await db.$queryRaw<{ id: string }[]>(Prisma.sql`
    UPDATE batches SET run = run + 1, lease_until = ${lease(leaseMs)}
    WHERE id = (
      SELECT id FROM batches AS waiting
      WHERE kind = ${kind} AND status IN ('validating', 'in_progress', 'finalizing', 'cancelling')
        AND (lease_until IS NULL OR lease_until < clock_timestamp())
      ORDER BY (
        SELECT count(*) FROM batches AS running
        WHERE running.workspace_id = waiting.workspace_id AND running.kind = ${kind} AND running.lease_until >= clock_timestamp()
          AND running.status IN ('validating', 'in_progress', 'finalizing', 'cancelling')
      ), id
      LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING id::text`);
  const [claimed] = rows;
  if (claimed === undefined) return undefined;
  return (await findBatch(db, claimed)) ?? undefined;
}

/** One run of a batch: what is said for an earlier one is not heard. */
export interface RunOf {
  readonly id: string;
  readonly run: number;
}

const ofRun = ({ id, run }: RunOf) =>
  Prisma.sql`id = ${id}::uuid AND run = ${run} AND status IN ('validating', 'in_progress', 'finalizing', 'cancelling')`;

/** The state that it is in; undefined = it is over, or somebody else has it. */
export function holdBatch(db: Database, run: RunOf, leaseMs: number): Promise<string | undefined> {
  return stateAfter(
    db,
    Prisma.sql`UPDATE batches SET lease_until = ${lease(leaseMs)} WHERE ${ofRun(run)} RETURNING status`,
  );
}

async function stateAfter(db: Database, update: Prisma.Sql): Promise<string | undefined> {
  const rows = await db.$queryRaw<{ status: string }[]>(update);
  return rows[0]?.status;
}

/** Its lines can be run. One that is being cancelled stays so. */
export function noteChecked(db: Database, run: RunOf, total: bigint): Promise<string | undefined> {
  return stateAfter(
    db,
    Prisma.sql`UPDATE batches SET total = ${total}, in_progress_at = clock_timestamp(), failures = 0,
        status = CASE status WHEN 'validating' THEN 'in_progress' ELSE status END
      WHERE ${ofRun(run)} RETURNING status`,
  );
}

/**
 * One statement, so that the part is there with its counts, or not at all; told twice, it counts once. The row is locked before the
 * part is written: whoever takes the batch up next sees the part, or the part is not written.
 */
export function notePart(
  db: Database,
  run: RunOf,
  part: { number: number; lines: Uint8Array; completed: bigint; failed: bigint },
): Promise<string | undefined> {
  return stateAfter(
    db,
    Prisma.sql`WITH held AS (
        SELECT id, run, status FROM batches WHERE ${ofRun(run)} FOR UPDATE
      ), noted AS (
        INSERT INTO batch_parts (batch_id, run, number, lines)
        SELECT id, run, ${part.number}::int, ${Buffer.from(part.lines)}::bytea FROM held
        ON CONFLICT DO NOTHING RETURNING batch_id
      ), counted AS (
        UPDATE batches SET completed = completed + ${part.completed}, failed = failed + ${part.failed}, failures = 0
        WHERE id IN (SELECT batch_id FROM noted)
      ) SELECT status FROM held`,
  );
}

export async function listParts(
  db: Database,
  id: string,
  after: { run: number; number: number },
  max: number,
): Promise<{ run: number; number: number; lines: Uint8Array }[]> {
  return db.$queryRaw(Prisma.sql`
    SELECT run, number, lines FROM batch_parts
    WHERE batch_id = ${id}::uuid AND (run, number) > (${after.run}::int, ${after.number}::int)
    ORDER BY run, number LIMIT ${max}`);
}

export function noteFinalizing(db: Database, run: RunOf): Promise<string | undefined> {
  return stateAfter(
    db,
    Prisma.sql`UPDATE batches SET finalizing_at = clock_timestamp(),
        status = CASE status WHEN 'cancelling' THEN status ELSE 'finalizing' END
      WHERE ${ofRun(run)} RETURNING status`,
  );
}

export interface BatchEnd {
  readonly status: 'completed' | 'failed' | 'expired' | 'cancelled';
  readonly outputFileId: string | null;
  readonly errorFileId: string | null;
  readonly errors: Prisma.InputJsonArray;
  readonly notRun: bigint;
}

/** False = somebody else has it. */
export async function endBatch(
  db: Database,
  { id, run }: RunOf,
  { status, outputFileId, errorFileId, errors, notRun }: BatchEnd,
  now: Date,
): Promise<boolean> {
  const isCancelled = await wasCancelled(db, { id, run }, now);
  if (isCancelled) return true;
  const { count } = await db.batch.updateMany({
    where: { id, run, status: { in: openStates } },
    data: {
      status,
      outputFileId,
      errorFileId,
      errors,
      failed: { increment: notRun },
      leaseUntil: null,
      [`${status}At`]: now,
    },
  });
  return count === 1;
}

/** Whoever was told that a response is cancelled is not told later that it is not. A batch may have been finished meanwhile. */
async function wasCancelled(db: Database, { id, run }: RunOf, now: Date): Promise<boolean> {
  const { count } = await db.batch.updateMany({
    where: { id, run, kind: 'response', status: 'cancelling' },
    data: { status: 'cancelled', cancelledAt: now, leaseUntil: null },
  });
  return count === 1;
}

export async function releaseBatch(
  db: Database,
  { id, run }: RunOf,
  { afterMs, failures }: { afterMs: number; failures: number },
): Promise<void> {
  await db.$executeRaw(Prisma.sql`
    UPDATE batches SET failures = ${failures},
      lease_until = ${afterMs === 0 ? Prisma.sql`NULL` : lease(afterMs)}
    WHERE id = ${id}::uuid AND run = ${run}`);
}

/**
 * Ended, whoever ran them last has had time to notice; or of a workspace that is gone. By their ids.
 * @param after an id; undefined = from the beginning
 */
export async function listObsoleteBatches(
  db: Database,
  { max, after }: { max: number; after: string | undefined },
): Promise<string[]> {
  const rows = await db.$queryRaw<{ id: string }[]>(Prisma.sql`
    SELECT id::text FROM batches AS batch
    WHERE NOT is_emptied AND (
      status NOT IN ('validating', 'in_progress', 'finalizing', 'cancelling')
      OR NOT EXISTS (SELECT 1 FROM workspaces WHERE id = batch.workspace_id))
      ${behind(after)}
    ORDER BY id LIMIT ${max}`);
  return rows.map(({ id }) => id);
}

export async function noteBatchesEmptied(db: Database, ids: readonly string[]): Promise<void> {
  const list = Prisma.sql`${[...ids]}::uuid[]`;
  await db.$executeRaw(Prisma.sql`DELETE FROM batch_parts WHERE batch_id = ANY(${list})`);
  await db.$executeRaw(Prisma.sql`
    UPDATE batches SET is_emptied = true, status = CASE
      WHEN status IN ('validating', 'in_progress', 'finalizing', 'cancelling') THEN 'cancelled' ELSE status END
    WHERE id = ANY(${list})`);
  await db.$executeRaw(Prisma.sql`
    DELETE FROM batches AS batch WHERE id = ANY(${list})
      AND NOT EXISTS (SELECT 1 FROM workspaces WHERE id = batch.workspace_id)`);
}

/** With the responses that they made. */
export async function removeBackground(db: Database, ids: readonly string[]): Promise<void> {
  await db.batch.deleteMany({ where: { id: { in: [...ids] }, kind: 'response' } });
}
