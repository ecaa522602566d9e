import { GatewayError } from '@sluice/errors';
import type { Change } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { isElsewhere } from '../../kernel/tenancy/target-workspace.ts';
import { findGrant, findIntegration, type IntegrationRow, workspacesUsing } from './store.ts';

/** The integration a path names, if it is in reach and of a level whose scopes the caller holds. */
export async function reachIntegration(
  call: AdminRequest,
  db: Database,
  reference: string,
): Promise<IntegrationRow> {
  const { caller } = call;
  const integration = await findIntegration(db, caller.organisationId, reference);
  if (integration === null || isElsewhere(caller, integration))
    throw new GatewayError('admin.not_found');
  if (caller.workspaceId !== undefined) {
    const inReach =
      integration.workspaceId === null
        ? (await findGrant(db, integration, caller.workspaceId))?.enabled === true
        : integration.workspaceId === caller.workspaceId;
    if (!inReach)
      throw new GatewayError('auth.missing_scope', {
        message: 'The integration is not in the workspace of this key.',
      });
  }
  call.permit(integration.workspaceId === null ? 'organisation' : 'workspace');
  return integration;
}

/**
 * A change of one integration; every workspace that has a provider of it hears of it.
 * @param show what the audit log says of it before and after
 */
export function changeReached(
  call: AdminRequest,
  reference: string,
  show: (db: Database, integration: IntegrationRow) => Promise<object>,
  work: (change: Change, integration: IntegrationRow) => Promise<void>,
): Promise<void> {
  return call.change(async (change) => {
    const { db } = change;
    const integration = await reachIntegration(call, db, reference);
    const before = await show(db, integration);
    // Asked before the work, which may remove the providers.
    for (const id of await workspacesUsing(db, integration.id)) change.touchWorkspace(id);
    await work(change, integration);
    const changed = await findIntegration(db, integration.organisationId, integration.id);
    change.describe({
      resourceId: integration.id,
      workspaceId: integration.workspaceId ?? undefined,
      before,
      after: changed === null ? undefined : await show(db, changed),
      detail: { slug: integration.slug },
    });
  });
}
