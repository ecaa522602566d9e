import type { BodyOf } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import { actorOf } from '../../kernel/access/caller.ts';
import { requireOrganisationRank, requireWorkspaceRank } from '../../kernel/access/rank.ts';
import { bytes } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';
import { noJson } from '../../kernel/database/no-json.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { isUuid, newId } from '../../kernel/names/ids.ts';
import { findWorkspace } from '../../kernel/tenancy/find-workspace.ts';
import { requireHeldScopes, requireKnownScopes } from '../api-keys/granting.ts';
import { readSettings } from '../api-keys/store.ts';
import { findUserByEmail } from '../users/store.ts';
import { createInviteToken, inviteLink } from './link.ts';
import { presentInvite } from './present.ts';
import {
  findInvite,
  findPendingInvite,
  type InvitedWorkspace,
  type InviteRow,
  insertInvite,
  updateInvite,
} from './store.ts';

/** The invite a path names, if it is one of the caller's organisation. */
export async function reachInvite(
  call: AdminRequest,
  db: Database,
  id: string,
): Promise<InviteRow> {
  if (!isUuid(id)) throw invalidField('path.inviteId', 'must be a UUID');
  const invite = await findInvite(db, call.caller.organisationId, id.toLowerCase());
  if (invite === null) throw new GatewayError('admin.not_found');
  return invite;
}

/** Holds a place ready for somebody; returns the link that they take it by. */
export function createInvite(
  call: AdminRequest,
  body: BodyOf<'invites.create'>,
  base: string,
): Promise<{ id: string; link: string }> {
  const { caller, now } = call;
  requireOrganisationRank(caller, body.role);
  requireWorkspaceRank(caller, rolesIn(body.workspaces));
  const scopes = body.workspace_api_key_details?.scopes;
  if (scopes !== undefined) {
    requireKnownScopes('workspace-user', scopes, 'body.workspace_api_key_details.scopes');
    requireHeldScopes(caller, scopes);
    // An admin may get one at home, in the default workspace.
    if (body.workspaces.length === 0 && body.role === 'member')
      call.notes.warnings.push(
        'body.workspace_api_key_details: does nothing: there is a key in each of the workspaces, and the invite names none',
      );
  }
  return call.change(async ({ db, describe }) => {
    const { organisationId } = caller;
    await refuseTakenEmail(db, organisationId, body.email, now);
    const token = createInviteToken();
    const invite = await insertInvite(db, {
      id: newId(),
      organisationId,
      email: body.email,
      role: body.role,
      workspaces: await invitedWorkspaces(db, organisationId, body.workspaces),
      apiKeyScopes: scopes ?? noJson,
      tokenHash: bytes(token.hash),
      expiresAt: await expiryOf(call, db),
      invitedBy: actorOf(caller),
      createdAt: now,
      updatedAt: now,
    });
    describe({ resourceId: invite.id, after: presentInvite(invite, now) });
    return { id: invite.id, link: inviteLink(base, token) };
  });
}

/**
 * A new link with a life of its own; the old one is dead. What has been withdrawn or used has no link. Whoever has
 * the link gets the keys that it brings, so the caller must hold what these may do.
 */
export function resendInvite(call: AdminRequest, id: string, base: string): Promise<string> {
  return change(call, id, async (db, invite) => {
    refuseSettled(invite);
    requireOrganisationRank(call.caller, invite.role as 'admin' | 'member');
    requireWorkspaceRank(
      call.caller,
      rolesIn(invite.workspaces as unknown as readonly InvitedWorkspace[]),
    );
    requireHeldScopes(call.caller, (invite.apiKeyScopes as string[] | null) ?? []);
    // It may have expired, and somebody else been invited by that address meanwhile.
    await refuseTakenEmail(db, invite.organisationId, invite.email, call.now, invite.id);
    const token = createInviteToken();
    await updateInvite(db, invite.id, {
      tokenHash: bytes(token.hash),
      expiresAt: await expiryOf(call, db),
      updatedAt: call.now,
    });
    return inviteLink(base, token);
  });
}

/** Withdraws an invite; doing it twice is no fault. */
export function cancelInvite(call: AdminRequest, id: string): Promise<void> {
  return change(call, id, async (db, invite) => {
    if (invite.status === 'accepted') throw settled(invite);
    await updateInvite(db, invite.id, { status: 'cancelled', updatedAt: call.now });
  });
}

/** @throws 400 unless the invite can still be accepted, now or with a new link. */
function refuseSettled(invite: InviteRow): void {
  if (invite.status !== 'pending') throw settled(invite);
}

function settled(invite: InviteRow): GatewayError {
  return new GatewayError('admin.refused', { message: `The invite was ${invite.status} already.` });
}

function change<T>(
  call: AdminRequest,
  id: string,
  work: (db: Database, invite: InviteRow) => Promise<T>,
): Promise<T> {
  return call.change(async ({ db, describe }) => {
    const before = await reachInvite(call, db, id);
    const result = await work(db, before);
    describe({
      resourceId: before.id,
      before: presentInvite(before, call.now),
      after: presentInvite(await reachInvite(call, db, id), call.now),
    });
    return result;
  });
}

async function expiryOf({ caller, now }: AdminRequest, db: Database): Promise<Date> {
  const { joining } = await readSettings(db, caller.organisationId, undefined);
  return new Date(now.getTime() + joining.invite_ttl * 1000);
}

/** @throws 409 when somebody of this address is a user, or is invited by another invite. */
async function refuseTakenEmail(
  db: Database,
  organisationId: string,
  email: string,
  now: Date,
  except?: string,
): Promise<void> {
  if ((await findUserByEmail(db, organisationId, email)) !== null)
    throw new GatewayError('admin.conflict', {
      message: 'A user with this e-mail address exists.',
    });
  const pending = await findPendingInvite(db, organisationId, email, now);
  if (pending !== null && pending.id !== except)
    throw new GatewayError('admin.conflict', {
      message: 'This e-mail address is invited already.',
    });
}

function rolesIn(
  workspaces: readonly Pick<InvitedWorkspace, 'role'>[],
): InvitedWorkspace['role'][] {
  return workspaces.map(({ role }) => role);
}

async function invitedWorkspaces(
  db: Database,
  organisationId: string,
  named: BodyOf<'invites.create'>['workspaces'],
): Promise<{ id: string; role: InvitedWorkspace['role'] }[]> {
  const places = new Map<string, InvitedWorkspace['role']>();
  for (const [index, { id: reference, role }] of named.entries()) {
    const workspace = await findWorkspace(db, organisationId, reference);
    const field = `body.workspaces[${index}].id`;
    if (workspace === null) throw invalidField(field, 'is no workspace of this organisation');
    if (places.has(workspace.id)) throw invalidField(field, 'names a workspace a second time');
    places.set(workspace.id, role);
  }
  return [...places].map(([id, role]) => ({ id, role }));
}
