import type { BodyOf, GlobalWorkspaceAccess } from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Change } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';
import { findWorkspace, type WorkspaceRow } from '../../kernel/tenancy/find-workspace.ts';
import { provisionProvider } from '../providers/provision.ts';
import {
  grantedWorkspaceIds,
  type IntegrationRow,
  listGlobalIntegrations,
  upsertGrant,
} from './store.ts';

/** A new workspace gets every integration that is open to all, each with a provider. */
export async function grantGlobalIntegrations(
  db: Database,
  workspace: WorkspaceRow,
  now: Date,
): Promise<void> {
  for (const integration of await listGlobalIntegrations(db, workspace.organisationId)) {
    const access = integration.globalAccess as unknown as GlobalWorkspaceAccess;
    await upsertGrant(db, integration.id, workspace.id, {
      enabled: true,
      ...limitsOf(access),
      now,
    });
    await provisionProvider(db, integration, workspace.id, { now });
  }
}

/**
 * Opens and closes an organisation's integration to workspaces. With
 * `override`, workspaces that are not named get the global setting, or nothing.
 */
export async function changeGrants(
  change: Change,
  integration: IntegrationRow,
  body: BodyOf<'integrations.workspaces.update'>,
  now: Date,
): Promise<void> {
  const { db } = change;
  const named = new Set<string>();
  for (const [index, entry] of (body.workspaces ?? []).entries()) {
    const workspace = await findWorkspace(db, integration.organisationId, entry.id);
    if (workspace === null)
      throw invalidField(`body.workspaces[${index}].id`, 'is no workspace of this organisation');
    named.add(workspace.id);
    await upsertGrant(db, integration.id, workspace.id, {
      enabled: entry.enabled,
      ...limitsOf(entry),
      lastResetAt: entry.reset_usage === true ? now : undefined,
      now,
    });
    if (entry.enabled && (entry.create_default_provider ?? body.create_default_provider)) {
      const field =
        entry.default_provider_slug === undefined
          ? 'body.default_provider_slug'
          : `body.workspaces[${index}].default_provider_slug`;
      await provisionProvider(db, integration, workspace.id, {
        slug: entry.default_provider_slug ?? body.default_provider_slug,
        slugField: field,
        now,
      });
    }
    change.touchWorkspace(workspace.id);
  }
  if (!body.override_existing_workspace_access) return;
  for (const workspaceId of await grantedWorkspaceIds(db, integration.id)) {
    if (named.has(workspaceId)) continue;
    const access = body.global_workspace_access;
    await upsertGrant(db, integration.id, workspaceId, {
      enabled: access?.enabled ?? false,
      ...(access == null ? {} : limitsOf(access)),
      now,
    });
    change.touchWorkspace(workspaceId);
  }
}

function limitsOf(entry: Pick<GlobalWorkspaceAccess, 'usage_limits' | 'rate_limits'>) {
  return {
    usageLimits: entry.usage_limits as Prisma.InputJsonValue | null | undefined,
    rateLimits: entry.rate_limits as Prisma.InputJsonValue | null | undefined,
  };
}
