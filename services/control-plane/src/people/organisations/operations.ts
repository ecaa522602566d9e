import { isDeepStrictEqual } from 'node:util';
import { roleAllowsScope, scopesOf } from '@sluice/contracts';
import {
  type BodyOf,
  type Settings,
  type SettingsChange,
  type SettingsSection,
  sharedSectionNames,
} from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import { isAsItIs } from '../../kernel/database/as-it-is.ts';
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
  withoutWhatHolds,
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
    const before = workspace.settings as StoredSettings;
    const inForce = effectiveSettings(organisation, before);
    const decided = sectionsDecidedBy(call, organisation, inForce, body);
    const isWhole = sharedSectionNames.every((section) => body[section] != null);
    const after = changedWorkspaceSettings(
      before,
      isWhole ? withoutWhatHolds(decided, { inForce, own: before }) : decided,
    );
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

/**
 * What of a change this caller decides for the workspace. Of the rest, what is sent as it holds was read, and decides nothing.
 * @throws 400 for another value of what the organisation keeps for itself, 403 of what only admins change
 */
function sectionsDecidedBy(
  { caller }: AdminRequest,
  organisation: unknown,
  inForce: Settings,
  body: SettingsChange,
): SettingsChange {
  const open = new Set<string>(openSections(organisation));
  // A manager who manages the workspace may say what is logged, but not what managers may do.
  const isLimited = caller.role === 'manager' || caller.role === 'member';
  const isDecided = (section: string) =>
    open.has(section) && !(isLimited && section !== 'request_logging');
  const sections = Object.entries(body).filter(([, values]) => values !== undefined);
  for (const [section, values] of sections) {
    if (isDecided(section) || isInForce(inForce[section as SettingsSection], values)) continue;
    if (!open.has(section))
      throw invalidField(
        `body.${section}`,
        'is decided by the organisation, which has not opened this section to workspaces',
      );
    throw new GatewayError('auth.missing_scope', {
      message: 'Only admins change what the people of a workspace may do.',
    });
  }
  return Object.fromEntries(sections.filter(([section]) => isDecided(section))) as SettingsChange;
}

function isInForce(held: object, sent: object | null): boolean {
  return sent !== null && isAsItIs(held, sent);
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
