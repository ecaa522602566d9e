import { isDeepStrictEqual } from 'node:util';
import { roleAllowsScope, scopesOf } from '@sluice/contracts';
import type { BodyOf, Settings, SettingsChange, SettingsSection } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import type { Change } from '../../kernel/database/change.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import {
  effectiveSettings,
  openSections,
  type StoredSettings,
} from '../../kernel/tenancy/settings.ts';
import { findLimitedUserKeyIds } from '../api-keys/store.ts';
import { reachActiveWorkspace } from '../workspaces/operations.ts';
import { updateWorkspace } from '../workspaces/store.ts';
import {
  changedOrganisationSettings,
  changedWorkspaceSettings,
  withoutClosedSections,
} from './change-settings.ts';
import {
  presentOrganisation,
  presentOrganisationSettings,
  presentWorkspaceSettings,
} from './present.ts';
import {
  countContents,
  listWorkspaceDecisions,
  readOrganisation,
  updateOrganisation,
  updateWorkspaces,
} from './store.ts';

export function renameOrganisation(call: AdminRequest, name: string | undefined): Promise<void> {
  return call.change(async ({ db, describe }) => {
    const { organisationId } = call.caller;
    const counts = await countContents(db, organisationId);
    const show = async () =>
      presentOrganisation(await readOrganisation(db, organisationId), counts);
    const before = await show();
    if (name !== undefined)
      await updateOrganisation(db, organisationId, { name, updatedAt: call.now });
    describe({ resourceId: organisationId, before, after: await show() });
  });
}

/** What a section leaves out stays. A section that is closed takes with it what workspaces decided in it. */
export function changeOrganisationSettings(
  call: AdminRequest,
  body: BodyOf<'organisation.settings.update'>,
): Promise<void> {
  return call.change(async (change) => {
    const { db, describe } = change;
    const row = await readOrganisation(db, call.caller.organisationId);
    const before = row.settings as StoredSettings;
    const after = changedOrganisationSettings(before, body);
    await updateOrganisation(db, row.id, {
      settings: { ...after },
      // The gateways' bundle reads it from its column.
      blockInlineConfig: effectiveSettings(after).data_plane_security_settings.block_inline_config,
      updatedAt: call.now,
    });
    const affected: string[] = [];
    for (const workspace of await listWorkspaceDecisions(db, row.id)) {
      const decided = workspace.settings as StoredSettings;
      const kept = withoutClosedSections(decided, after);
      if (!isDeepStrictEqual(kept, decided))
        await updateWorkspaces(db, [workspace.id], { settings: { ...kept } });
      const settings = effectiveSettings(after, kept);
      if (isDeepStrictEqual(effectiveSettings(before, decided), settings)) continue;
      change.touchWorkspace(workspace.id);
      if (!sameScopes(effectiveSettings(before, decided), settings)) affected.push(workspace.id);
    }
    await touchLimitedKeys(change, affected);
    describe({
      resourceId: row.id,
      before: presentOrganisationSettings(before),
      after: presentOrganisationSettings(after),
    });
  });
}

/** @throws 400 for a section that the organisation keeps for itself. */
export function changeWorkspaceSettings(
  call: AdminRequest,
  reference: string,
  body: SettingsChange,
): Promise<void> {
  return call.change(async (change) => {
    const { db, describe, touchWorkspace } = change;
    const workspace = await reachActiveWorkspace(call, db, reference);
    const organisation = workspace.organisation.settings;
    const sections = Object.keys(body) as SettingsSection[];
    refuseClosedSections(organisation, sections);
    refuseOwnRights(call, sections);
    const before = workspace.settings as StoredSettings;
    const after = changedWorkspaceSettings(before, body);
    const changed = await updateWorkspace(db, workspace.id, {
      settings: { ...after },
      updatedAt: call.now,
    });
    touchWorkspace(workspace.id);
    if (
      !sameScopes(effectiveSettings(organisation, before), effectiveSettings(organisation, after))
    )
      await touchLimitedKeys(change, [workspace.id]);
    describe({
      resourceId: workspace.id,
      workspaceId: workspace.id,
      before: presentWorkspaceSettings(workspace),
      after: presentWorkspaceSettings({ ...workspace, ...changed }),
    });
  });
}

function refuseClosedSections(organisation: unknown, sections: readonly SettingsSection[]): void {
  const open = new Set<string>(openSections(organisation));
  const closed = sections.find((section) => !open.has(section));
  if (closed !== undefined)
    throw invalidField(
      `body.${closed}`,
      'is decided by the organisation, which has not opened this section to workspaces',
    );
}

/** A manager who manages the workspace may say what is logged, but not what managers may do. */
function refuseOwnRights({ caller }: AdminRequest, sections: readonly SettingsSection[]): void {
  if (caller.role !== 'manager' && caller.role !== 'member') return;
  if (sections.some((section) => section !== 'request_logging'))
    throw new GatewayError('auth.missing_scope', {
      message: 'Only admins change what the people of a workspace may do.',
    });
}

const limitedStandings = [
  { organisationRole: 'admin', role: 'admin' },
  { organisationRole: 'member', role: 'manager' },
  { organisationRole: 'member', role: 'member' },
] as const;

/** Whether nobody's key can do more or less under the one than under the other. */
function sameScopes(one: Settings, other: Settings): boolean {
  return limitedStandings.every((standing) =>
    scopesOf('workspace-user').every(
      (scope) => roleAllowsScope(standing, scope, one) === roleAllowsScope(standing, scope, other),
    ),
  );
}

/** Gateways hold the scopes of a key as its user can use them, so they must ask again. */
async function touchLimitedKeys(change: Change, workspaceIds: readonly string[]): Promise<void> {
  if (workspaceIds.length === 0) return;
  for (const id of await findLimitedUserKeyIds(change.db, workspaceIds)) change.touchKey(id);
}
