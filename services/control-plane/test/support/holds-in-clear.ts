import type { Harness } from './harness.ts';

/** Whether any column of the tables has the text in it, as text or as the bytes of it. */
export async function holdsInClear(
  h: Harness,
  tables: readonly string[],
  text: string,
): Promise<boolean> {
  const hex = Buffer.from(text).toString('hex');
  for (const table of tables) {
    const rows = await h.db.$queryRawUnsafe<{ row: string }[]>(
      `SELECT stored::text AS row FROM ${table} AS stored`,
    );
    if (rows.some(({ row }) => row.includes(text) || row.includes(hex))) return true;
  }
  return false;
}
