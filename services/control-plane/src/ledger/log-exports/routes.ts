import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { namedWorkspace, targetWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import type { ExportLinks } from './export-links.ts';
import {
  cancelLogExport,
  changeLogExport,
  createLogExport,
  downloadLogExport,
  reachLogExport,
  startLogExport,
  visibleCreator,
} from './operations.ts';
import { presentLogExport, presentWritten } from './present.ts';
import { listDeniedFields } from './restrictions.ts';
import { listLogExports } from './store.ts';

export interface LogExportParts {
  readonly links: ExportLinks;
  /** Whether there is a store to export to. */
  readonly hasStore: boolean;
}

export const logExportOperations = ({ links, hasStore }: LogExportParts) =>
  implementAll('log-exports', {
    // Before the route that would take the last part for an id.
    'field-restrictions': async (call) => {
      const workspaceId = await workspaceIdOf(call);
      const denied = await listDeniedFields(call.db, call.caller.organisationId, workspaceId);
      return { deniedFields: [...denied] };
    },
    list: async (call, { query }) => {
      const { rows, total } = await listLogExports(
        call.db,
        {
          organisationId: call.caller.organisationId,
          workspaceId: await workspaceIdOf(call),
          createdBy: visibleCreator(call.caller),
        },
        query,
      );
      return { object: 'list', total, data: rows.map(presentLogExport) };
    },
    create: async (call, { body }) => presentWritten(await createLogExport(call, body)),
    read: async (call) => presentLogExport(await reachLogExport(call, call.db, idOf(call))),
    update: async (call, { body }) => presentWritten(await changeLogExport(call, idOf(call), body)),
    start: async (call) => {
      await startLogExport(call, idOf(call), hasStore);
      return { message: 'Export started', object: 'export' };
    },
    cancel: async (call) => {
      await cancelLogExport(call, idOf(call));
      return { message: 'Export stopped', object: 'export' };
    },
    download: async (call) => ({ signed_url: await downloadLogExport(call, idOf(call), links) }),
  });

async function workspaceIdOf(call: AdminRequest): Promise<string | undefined> {
  const named = namedWorkspace(undefined, call.query);
  return (await targetWorkspace(call.db, call.caller, named))?.id;
}

function idOf(call: AdminRequest): string {
  return pathParameter(call, 'exportId');
}
