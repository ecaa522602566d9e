import { GatewayError } from '@sluice/errors';
import { implementAll } from '../../kernel/http/implement.ts';
import { findWorkspaceOfAnyStatus } from '../../kernel/tenancy/find-workspace.ts';
import { requireOwnOrganisation } from '../../kernel/tenancy/target-workspace.ts';
import { presentEntry, presentVerification } from './present.ts';
import { listAuditEntries } from './store.ts';
import { verifyOrganisation } from './verify-organisation.ts';

export const auditLogOperations = implementAll('audit-logs', {
  list: async (call, { query }) => {
    const { organisationId } = call.caller;
    requireOwnOrganisation(call.caller, query.organisation_id);
    const workspace =
      query.workspace_id === undefined
        ? undefined
        : await findWorkspaceOfAnyStatus(call.db, organisationId, query.workspace_id);
    if (workspace === null)
      throw new GatewayError('admin.not_found', { message: 'No such workspace.' });
    const { rows, total } = await listAuditEntries(
      call.db,
      { organisationId, workspaceId: workspace?.id },
      query,
    );
    return { records: rows.map(presentEntry), total, object: 'analytics-graph' as const };
  },
  verify: async (call) => {
    const { organisationId } = call.caller;
    return presentVerification(organisationId, await verifyOrganisation(call.db, organisationId));
  },
});
