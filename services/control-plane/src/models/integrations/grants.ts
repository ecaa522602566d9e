import type { BodyOf, GlobalWorkspaceAccess } from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';
import type { Change } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';
import { findWorkspace, type WorkspaceRow } from '../../kernel/tenancy/find-workspace.ts';
import { listActiveWorkspaces } from '../../kernel/tenancy/list-active-workspaces.ts';
import { changedUsageLimitsList } from '../../limits/usage-limits/changed-limits.ts';
import { plannedRateLimits } from '../../limits/usage-limits/rate-limits.ts';
import { rewarnHolder } from '../../limits/usage-limits/rewarn-holder.ts';
import type {
  StoredRateLimit,
  StoredUsageLimits,
} from '../../limits/usage-limits/stored-limits.ts';
import { provisionProvider } from '../providers/provision.ts';
import {
  findGrant,
  type GrantRow,
  type IntegrationRow,
  listEveryGrant,
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
      ...limitsOf(atPresent(access, now), null, now),
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
    if (named.has(workspace.id))
      throw invalidField(`body.workspaces[${index}].id`, 'is named twice');
    named.add(workspace.id);
    const grant = await findGrant(db, integration, workspace.id);
    const limits = limitsOf(entry, grant, now, `body.workspaces[${index}].usage_limits`);
    await rewarnHolder(db, grant?.usageLimits, limits.usageLimits);
    await upsertGrant(db, integration.id, workspace.id, {
      enabled: entry.enabled,
      ...limits,
      lastResetAt: entry.reset_usage === true ? now : undefined,
      now,
    });
    // One that had access may have deleted its provider: that stands, whatever else of its grant changes.
    const getsProvider =
      entry.create_default_provider ?? body.create_default_provider ?? grant?.enabled !== true;
    if (entry.enabled && getsProvider) {
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
  if (body.override_existing_workspace_access)
    await changeOthers(change, integration, body, named, now);
}

/** Workspaces that are not named get what new ones get: without global access nothing, where they had something. */
async function changeOthers(
  { db, touchWorkspace }: Change,
  integration: IntegrationRow,
  body: BodyOf<'integrations.workspaces.update'>,
  named: ReadonlySet<string>,
  now: Date,
): Promise<void> {
  const stored = integration.globalAccess as unknown as GlobalWorkspaceAccess | null;
  const access =
    body.global_workspace_access === undefined
      ? stored && atPresent(stored, now)
      : body.global_workspace_access;
  const grants = await listEveryGrant(db, integration);
  const isOpen = access?.enabled ?? false;
  const active = isOpen ? await listActiveWorkspaces(db, integration.organisationId) : [];
  const mayHaveProvider = new Set(active.map(({ id }) => id));
  for (const workspaceId of new Set([...grants.keys(), ...mayHaveProvider])) {
    if (named.has(workspaceId)) continue;
    const grant = grants.get(workspaceId) ?? null;
    const limits = access == null ? undefined : limitsOf(access, grant, now, globalPath);
    if (grant !== null) await rewarnHolder(db, grant.usageLimits, limits?.usageLimits);
    await upsertGrant(db, integration.id, workspaceId, { enabled: isOpen, ...limits, now });
    const getsProvider = body.create_default_provider ?? grant?.enabled !== true;
    if (mayHaveProvider.has(workspaceId) && getsProvider)
      await provisionProvider(db, integration, workspaceId, {
        slug: body.default_provider_slug,
        now,
      });
    touchWorkspace(workspaceId);
  }
}

const globalPath = 'body.global_workspace_access.usage_limits';

/** The limits of a grant as they are kept; what is left out stays, and null clears. */
function limitsOf(
  sent: Pick<GlobalWorkspaceAccess, 'usage_limits' | 'rate_limits'> & {
    reset_usage?: boolean | undefined;
  },
  grant: GrantRow | null,
  now: Date,
  path?: string,
) {
  const usage = (grant?.usageLimits ?? []) as StoredUsageLimits[];
  const rates = (grant?.rateLimits ?? []) as StoredRateLimit[];
  return {
    usageLimits: sent.usage_limits === null ? null : changedUsageLimitsList(usage, sent, now, path),
    rateLimits: sent.rate_limits && plannedRateLimits(sent.rate_limits, rates),
  };
}

/** What was set for workspaces to come, for one that comes now: a date that has passed says nothing any more. */
function atPresent(access: GlobalWorkspaceAccess, now: Date): GlobalWorkspaceAccess {
  const isOver = (date: string | null | undefined) => date != null && new Date(date) <= now;
  return {
    ...access,
    usage_limits: access.usage_limits?.map(({ next_usage_reset_at: date, ...limits }) =>
      isOver(date) ? limits : { ...limits, next_usage_reset_at: date },
    ),
  };
}
