import type { AnswerOf, groupColumnNames, groupNames } from '@sluice/contracts/admin';
import type { analytics } from '@sluice/proto-stubs';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { instant } from '../../kernel/http/shapes.ts';
import { isUuid } from '../../kernel/names/ids.ts';

type Row = AnswerOf<'analytics.groups.by'>['data'][number];
type Column = (typeof groupColumnNames)[number];

const times: ReadonlySet<string> = new Set(['first_seen', 'last_seen'] satisfies Column[]);

/** A group, under the name of what it is grouped by, with the columns that were asked for. */
export function showGroup(
  name: (typeof groupNames)[number],
  columns: readonly Column[],
  { value, requests, values }: analytics.GroupRow,
): Row {
  const shown = columns.map((column) => {
    const figure = values[column] ?? 0;
    return [column, times.has(column) ? instant(new Date(figure)) : figure];
  });
  return {
    [name]: name === 'status_code' ? Number(value) : value,
    requests: Number(requests),
    ...Object.fromEntries(shown),
    object: 'analytics-group',
  };
}

/** The ledger knows workspaces by id, people by slug. */
export async function nameWorkspaces(
  { db, caller }: AdminRequest,
  rows: readonly analytics.GroupRow[],
): Promise<analytics.GroupRow[]> {
  const ids = rows.map((row) => row.value).filter(isUuid);
  const workspaces = await db.workspace.findMany({
    where: { organisationId: caller.organisationId, id: { in: ids } },
    select: { id: true, slug: true },
  });
  const slugs = new Map(workspaces.map(({ id, slug }) => [id, slug]));
  return rows.map((row) => ({ ...row, value: slugs.get(row.value) ?? row.value }));
}
