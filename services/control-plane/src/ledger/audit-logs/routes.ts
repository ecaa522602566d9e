import { GatewayError } from '@sluice/errors';
import { implementAll } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { findWorkspaceOfAnyStatus } from '../../kernel/tenancy/find-workspace.ts';
import { requireOwnOrganisation } from '../../kernel/tenancy/target-workspace.ts';
import { presentEntry, presentLine, presentVerification } from './present.ts';
import { type AuditScope, exportedEntries, listAuditEntries } from './store.ts';
import { verifyOrganisation } from './verify-organisation.ts';

export const auditLogOperations = implementAll('audit-logs', {
  list: async (call, { query }) => {
    const { rows, total } = await listAuditEntries(call.db, await scopeOf(call, query), query);
    return { records: rows.map(presentEntry), total, object: 'analytics-graph' as const };
  },
  export: async (call, { query }) => {
    const scope = await scopeOf(call, query);
    const pages = exportedEntries(call.db, scope, query, call.signal);
    return (async function* () {
      for await (const rows of pages) for (const row of rows) yield presentLine(row);
    })();
  },
  verify: async (call) => {
    const { organisationId } = call.caller;
    return presentVerification(organisationId, await verifyOrganisation(call.db, organisationId));
  },
});

/** @throws 403 for another organisation, 404 for a workspace that is none of this one */
async function scopeOf(
  { caller, db }: AdminRequest,
  named: { organisation_id?: string | undefined; workspace_id?: string | undefined },
): Promise<AuditScope> {
  const { organisationId } = caller;
  requireOwnOrganisation(caller, named.organisation_id);
  if (named.workspace_id === undefined) return { organisationId, workspaceId: undefined };
  const workspace = await findWorkspaceOfAnyStatus(db, organisationId, named.workspace_id);
  if (workspace === null)
    throw new GatewayError('admin.not_found', { message: 'No such workspace.' });
  return { organisationId, workspaceId: workspace.id };
}
