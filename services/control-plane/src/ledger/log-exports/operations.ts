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
import type { ExportLinks } from './export-links.ts';
import { storedReader } from './export-reader.ts';
import { exportFolder } from './part-keys.ts';
import { presentLogExport } from './present.ts';
import { refuseDeniedFields, refuseDeniedFile } from './restrictions.ts';
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
    const named = namedWorkspace(call.body, call.query);
    const workspace = await requireWorkspace(db, call.caller, {
      ...named,
      reference: named.reference ?? body.filters.workspace_slug,
    });
    await noteOtherWorkspace(call, db, body.filters, workspace.id);
    const owner = { organisationId: workspace.organisationId, workspaceId: workspace.id };
    await refuseDeniedFields(db, owner, body.requested_data);
    const row = await insertLogExport(db, {
      id: newId(),
      ...owner,
      filters: storedFilters(body.filters),
      requestedData: body.requested_data,
      description: body.description,
      format: body.format,
      all: body.all,
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
    await noteOtherWorkspace(call, db, body.filters, row.workspaceId);
    return updateLogExport(db, row.id, {
      filters: storedFilters(body.filters),
      requestedData: body.requested_data,
      description: body.description,
      format: body.format,
      all: body.all,
      updatedAt: call.now,
    });
  });
}

/** From its beginning, whatever an earlier start came to: what that wrote is removed when the file is done. */
export function startLogExport(
  call: AdminRequest,
  id: string,
  hasStore: boolean,
): Promise<LogExportRow> {
  return changeReached(call, id, async ({ db }, row) => {
    if (!['draft', 'failed', 'stopped'].includes(row.status))
      throw refused(`The export is ${row.status}.`);
    if (!hasStore) throw new GatewayError('admin.exports_unavailable');
    await refuseDeniedFields(db, row, row.requestedData as ExportField[]);
    return updateLogExport(db, row.id, {
      status: 'in_progress',
      error: null,
      startedAt: call.now,
      updatedAt: call.now,
      reader: storedReader(call.caller),
      objectKey: exportFolder(row),
      parts: [],
      total: 0,
      cursor: '',
      passed: 0,
      failures: 0,
      // Whoever may still be at it from before is not heard any more.
      run: { increment: 1 },
      leaseUntil: null,
    });
  });
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

/** @throws 410 where the file was there, and is not kept any more */
export async function downloadLogExport(
  call: AdminRequest,
  id: string,
  links: ExportLinks,
): Promise<string> {
  const row = await reachLogExport(call, call.db, id);
  if (row.status !== 'success') throw refused(`The export has no file: it is ${row.status}.`);
  if (row.objectKey === null) throw new GatewayError('admin.export_gone');
  await refuseDeniedFile(call.db, row);
  return links.linkTo(row.id, call.base, call.now);
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

/** An export is of one workspace for good: a filter that names another narrows nothing. */
async function noteOtherWorkspace(
  { notes }: AdminRequest,
  db: Database,
  { workspace_slug: named }: ExportFilters,
  id: string,
): Promise<void> {
  if (named === undefined || named.toLowerCase() === id) return;
  const { slug } = await db.workspace.findUniqueOrThrow({ where: { id }, select: { slug: true } });
  if (named === slug) return;
  notes.warnings.push(
    `body.filters.workspace_slug: does nothing: the export is of the workspace ${slug}`,
  );
}

/** Without what was not given. The export reads its own workspace, whatever a filter names. */
function storedFilters(filters: ExportFilters): Prisma.InputJsonObject {
  const { workspace_slug: _workspace, ...given } = filters;
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as Prisma.InputJsonObject;
}
