import { Prisma } from '../../generated/prisma/client.ts';
import { behind } from '../../kernel/database/behind.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { ColumnSizes } from './parquet/row-group.ts';
import { findLogExport, type LogExportRow } from './store.ts';

/** An export that one worker has, until its lease ends: whoever takes it up after that counts the run on. */
export interface Claim {
  readonly row: LogExportRow;
  readonly run: number;
}

/** A piece of the file that is in the object store, whole. */
export interface FilePart {
  readonly key: string;
  readonly rows: number;
  readonly bytes: number;
  /** Of a row group of Parquet. */
  readonly columns: ColumnSizes;
}

/** The file as it is so far, in order. */
export function partsOf({ parts }: LogExportRow): FilePart[] {
  return (parts as Prisma.JsonArray).map((part) => {
    const { key, rows, bytes, columns } = part as Prisma.JsonObject;
    return {
      key: String(key),
      rows: Number(rows),
      bytes: Number(bytes),
      columns: columns as [number, number][],
    };
  });
}

const lease = (ms: number) => Prisma.sql`clock_timestamp() + ${ms} * interval '1 millisecond'`;

/** Takes up an export that nobody works at: of the organisation that has fewest under way, the first that was started. */
export async function claimLogExport(db: Database, leaseMs: number): Promise<Claim | undefined> {
  const rows = await db.$queryRaw<{ id: string; run: number }[]>(
    Prisma.sql`UPDATE log_exports SET run = run + 1, lease_until = ${lease(leaseMs)}
      WHERE id = (
        SELECT id FROM log_exports AS waiting
        WHERE status = 'in_progress' AND object_key IS NOT NULL
          AND (lease_until IS NULL OR lease_until < clock_timestamp())
        ORDER BY (
          SELECT count(*) FROM log_exports AS running
          WHERE running.organisation_id = waiting.organisation_id
            AND running.status = 'in_progress' AND running.lease_until >= clock_timestamp()
        ), started_at
        LIMIT 1 FOR UPDATE SKIP LOCKED)
      RETURNING id::text, run`,
  );
  const [claimed] = rows;
  if (claimed === undefined) return undefined;
  const row = await findLogExport(db, claimed.id);
  return row === null ? undefined : { row, run: claimed.run };
}

/** False = it was stopped, or somebody else has it. */
export async function holdLogExport(
  db: Database,
  { row, run }: Claim,
  leaseMs: number,
): Promise<boolean> {
  const held = await db.$executeRaw(
    Prisma.sql`UPDATE log_exports SET lease_until = ${lease(leaseMs)}
      WHERE id = ${row.id}::uuid AND run = ${run} AND status = 'in_progress'`,
  );
  return held === 1;
}

/** What is in the store now, and where it goes on. False as above: the part is nobody's then. */
export async function notePart(
  db: Database,
  { row, run }: Claim,
  part: FilePart,
  { cursor, passed }: { cursor: string; passed: number },
): Promise<boolean> {
  const noted = await db.$executeRaw(
    Prisma.sql`UPDATE log_exports
      SET parts = parts || ${JSON.stringify([part])}::jsonb, total = total + ${part.rows},
        cursor = ${cursor}, passed = ${passed}, failures = 0, updated_at = clock_timestamp()
      WHERE id = ${row.id}::uuid AND run = ${run} AND status = 'in_progress'`,
  );
  return noted === 1;
}

/** How it ended. False as above. */
export async function endLogExport(
  db: Database,
  { row, run }: Claim,
  end: { status: 'success' } | { status: 'failed'; error: string },
): Promise<boolean> {
  const { count } = await db.logExport.updateMany({
    where: { id: row.id, run, status: 'in_progress' },
    data: { ...end, leaseUntil: null, updatedAt: new Date() },
  });
  return count === 1;
}

/** Gives it back, to be taken up at once or later. */
export async function releaseLogExport(
  db: Database,
  { row, run }: Claim,
  { afterMs, failures }: { afterMs: number; failures?: number },
): Promise<void> {
  await db.$executeRaw(
    Prisma.sql`UPDATE log_exports
      SET lease_until = ${afterMs === 0 ? Prisma.sql`NULL` : lease(afterMs)},
        failures = ${failures === undefined ? Prisma.sql`failures` : failures}
      WHERE id = ${row.id}::uuid AND run = ${run}`,
  );
}

/**
 * Exports whose content nobody needs any more: stopped, failed, or kept for long enough. None that a worker still has. By their ids.
 * @param after an id; undefined = from the beginning
 */
export function listObsoleteExports(
  db: Database,
  { keptSince, max, after }: { keptSince: Date; max: number; after: string | undefined },
): Promise<LogExportRow[]> {
  return db
    .$queryRaw<{ id: string }[]>(
      Prisma.sql`SELECT id::text FROM log_exports
      WHERE object_key IS NOT NULL AND (lease_until IS NULL OR lease_until < clock_timestamp())
        AND (status IN ('stopped', 'failed') OR (status = 'success' AND updated_at < ${keptSince}))
        ${behind(after)}
      ORDER BY id LIMIT ${max}`,
    )
    .then((rows) =>
      db.logExport.findMany({
        where: { id: { in: rows.map(({ id }) => id) } },
        orderBy: { id: 'asc' },
      }),
    );
}

/** Nothing of it is in the store; not said of one that was started again meanwhile. */
export async function noteEmptied(db: Database, { id, run, status }: LogExportRow): Promise<void> {
  await db.logExport.updateMany({
    where: { id, run, status },
    data: { objectKey: null, parts: [] },
  });
}
