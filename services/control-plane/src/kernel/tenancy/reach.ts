import { GatewayError, invalidField } from '@sluice/errors';
import type { Database } from '../database/client.ts';
import type { AdminRequest } from '../http/operation.ts';
import { isUuid } from '../names/ids.ts';
import {
  type NamedWorkspace,
  namedWorkspace,
  requireReach,
  targetWorkspace,
} from './target-workspace.ts';

/** What a reference may stand for; two rows are enough to see that it is not plain. */
export interface ReferenceFilter {
  organisationId: string;
  workspaceId?: string;
  id?: string;
  slug?: string;
}

/** A resource of a workspace. */
interface Placed {
  readonly organisationId: string;
  readonly workspaceId: string;
}

export interface ReachOptions<Row> {
  /** Where an organisation key says which workspace it means; in body or query unless told. */
  named?: NamedWorkspace;
  /** Rows of other workspaces that this workspace may look at all the same. */
  isShared?: (row: Row, workspaceId: string) => boolean;
}

/**
 * The resource of a workspace that a path names, by UUID or slug. A slug is
 * looked for in the workspace that is meant; an organisation key may leave the
 * workspace out while the slug is unambiguous.
 * @throws 404 when it does not exist for the caller, 403 when it is another workspace's
 */
export async function reachByReference<Row extends Placed>(
  call: AdminRequest,
  db: Database,
  reference: string,
  find: (db: Database, filter: ReferenceFilter) => Promise<Row[]>,
  { named = namedWorkspace(call.body, call.query), isShared = () => false }: ReachOptions<Row> = {},
): Promise<Row> {
  const { organisationId } = call.caller;
  const workspace = await targetWorkspace(db, call.caller, named);
  const isVisible = (row: Row) =>
    workspace === undefined || row.workspaceId === workspace.id || isShared(row, workspace.id);
  if (isUuid(reference)) {
    const [row] = await find(db, { organisationId, id: reference.toLowerCase() });
    if (row !== undefined && isVisible(row)) return row;
    requireReach(call.caller, row ?? null);
    throw new GatewayError('admin.not_found');
  }
  const rows = await find(db, { organisationId, workspaceId: workspace?.id, slug: reference });
  const [row, another] =
    rows.length > 0 || workspace === undefined
      ? rows
      : (await find(db, { organisationId, slug: reference })).filter(isVisible);
  if (row === undefined) throw new GatewayError('admin.not_found');
  if (another !== undefined)
    throw invalidField('query.workspace_id', 'is required: several workspaces know this slug');
  return row;
}
