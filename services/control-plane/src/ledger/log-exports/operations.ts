import type { BodyOf, ExportField, ExportFilters } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import type { Prisma } from '../../generated/prisma/client.ts';
import { actorOf, type Caller } from '../../kernel/access/caller.ts';
import type { Change } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { isUuid, newId } from '../../kernel/names/ids.ts';
import {
  namedWorkspace,
  requireReach,
  requireWorkspace,
} from '../../kernel/tenancy/target-workspace.ts';
import { presentLogExport } from './present.ts';
import { refuseDeniedFields } from './restrictions.ts';
import { findLogExport, insertLogExport, type LogExportRow, updateLogExport } from './store.ts';

/** Whose exports a caller sees: people their own, services all in reach. */
export function visibleCreator(caller: Caller): string | undefined {
  return caller.keyType === 'workspace-user' ? actorOf(caller) : undefined;
}

/** The export a path names, if the caller may see it. */
export async function reachLogExport(
  call: AdminRequest,
  db: Database,
  id: string,
): Promise<LogExportRow> {
  const row = isUuid(id) ? await findLogExport(db, id.toLowerCase()) : null;
  requireReach(call.caller, row);
  const creator = visibleCreator(call.caller);
  if (row === null || (creator !== undefined && row.createdBy !== creator))
    throw new GatewayError('admin.not_found');
  return row;
}

export function createLogExport(
  call: AdminRequest,
  body: BodyOf<'log-exports.create'>,
): Promise<LogExportRow> {
  return call.change(async ({ db, describe }) => {
    const workspace = await requireWorkspace(
      db,
      call.caller,
      namedWorkspace(call.body, call.query),
    );
    const owner = { organisationId: workspace.organisationId, workspaceId: workspace.id };
    await refuseDeniedFields(db, owner, body.requested_data);
    const row = await insertLogExport(db, {
      id: newId(),
      ...owner,
      filters: storedFilters(body.filters),
      requestedData: body.requested_data,
      description: body.description,
      createdBy: actorOf(call.caller),
      createdAt: call.now,
      updatedAt: call.now,
    });
    describe({ resourceId: row.id, workspaceId: workspace.id, after: presentLogExport(row) });
    return row;
  });
}

/** Filters are replaced as a whole; the rest stays unless it is sent. */
export function changeLogExport(
  call: AdminRequest,
  id: string,
  body: BodyOf<'log-exports.update'>,
): Promise<LogExportRow> {
  return changeReached(call, id, async ({ db }, row) => {
    if (row.status !== 'draft')
      throw refused(`Only a draft can be changed; this one is ${row.status}.`);
    // Denied fields may have been added since the draft was made.
    const requested = body.requested_data ?? (row.requestedData as ExportField[]);
    await refuseDeniedFields(db, row, requested);
    return updateLogExport(db, row.id, {
      filters: storedFilters(body.filters),
      requestedData: body.requested_data,
      description: body.description,
      updatedAt: call.now,
    });
  });
}

/**
 * Refused always: the job that reads the ledger and writes the file is not
 * part of this release. A state "in progress" that never ends would be a lie.
 */
export async function startLogExport(call: AdminRequest, id: string): Promise<never> {
  const row = await reachLogExport(call, call.db, id);
  if (!['draft', 'failed', 'stopped'].includes(row.status))
    throw refused(`The export is ${row.status}.`);
  throw new GatewayError('admin.exports_unavailable');
}

/** One that is stopped already stays so. */
export async function cancelLogExport(call: AdminRequest, id: string): Promise<void> {
  await changeReached(call, id, async ({ db }, row) => {
    if (row.status === 'stopped') return row;
    if (!['draft', 'in_progress'].includes(row.status))
      throw refused(`The export has ended: it is ${row.status}.`);
    return updateLogExport(db, row.id, { status: 'stopped', updatedAt: call.now });
  });
}

/** There is a file once the export succeeded, and nothing here makes one succeed yet. */
export async function downloadLogExport(call: AdminRequest, id: string): Promise<never> {
  const row = await reachLogExport(call, call.db, id);
  if (row.status !== 'success') throw refused(`The export has no file: it is ${row.status}.`);
  throw new GatewayError('admin.exports_unavailable');
}

async function changeReached(
  call: AdminRequest,
  id: string,
  work: (change: Change, row: LogExportRow) => Promise<LogExportRow>,
): Promise<LogExportRow> {
  return call.change(async (change) => {
    const row = await reachLogExport(call, change.db, id);
    const changed = await work(change, row);
    change.describe({
      resourceId: row.id,
      workspaceId: row.workspaceId,
      before: presentLogExport(row),
      after: presentLogExport(changed),
    });
    return changed;
  });
}

function refused(message: string): GatewayError {
  return new GatewayError('admin.refused', { message });
}

/** Without what was not given. The export reads its own workspace, whatever a filter names. */
function storedFilters(filters: ExportFilters): Prisma.InputJsonObject {
  const { workspace_slug: _workspace, ...given } = filters;
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as Prisma.InputJsonObject;
}
