import type { Harness } from './harness.ts';

/** The newest entries of the first organisation, the oldest of them first; documents parsed. */
export async function lastEntries(h: Harness, count: number) {
  const rows = await h.db.auditEntry.findMany({
    where: { organisationId: h.first.organisation_id },
    orderBy: { sequence: 'desc' },
    take: count,
  });
  return rows.reverse().map((row) => ({
    ...row,
    before: row.before === null ? null : JSON.parse(row.before),
    after: row.after === null ? null : JSON.parse(row.after),
    detail: row.detail === null ? null : JSON.parse(row.detail),
  }));
}

/** Everything the database holds as text, to look for what must not be in it. */
export async function wholeDatabase(h: Harness): Promise<string> {
  const tables = await h.db.$queryRaw<{ name: string }[]>`
    SELECT quote_ident(table_name) AS name FROM information_schema.tables
    WHERE table_schema = current_schema()`;
  const texts = await Promise.all(
    tables.map(({ name }) =>
      h.db.$queryRawUnsafe<{ row: string }[]>(`SELECT t::text AS row FROM ${name} t`),
    ),
  );
  return texts
    .flat()
    .map(({ row }) => row)
    .join('\n');
}
