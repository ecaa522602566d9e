import type { WorkspaceRole } from '@sluice/contracts';
import type { BodyOf } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import type { Change } from '../../kernel/database/change.ts';
import type { PublicCall } from '../../kernel/http/public-operation.ts';
import { newId } from '../../kernel/names/ids.ts';
import { findDefaultWorkspace, findWorkspace } from '../../kernel/tenancy/find-workspace.ts';
import type { ProvisionedKey, ProvisionUserKey } from '../api-keys/provision-user-key.ts';
import { touchUserKeys } from '../api-keys/user-keys.ts';
import { findUserByEmail, insertUser, updateUser } from '../users/store.ts';
import { findMember, putMember } from '../workspace-members/store.ts';
import { hashInviteToken } from './link.ts';
import { presentInvite, statusOf } from './present.ts';
import { findInviteByToken, type InvitedWorkspace, type InviteRow, updateInvite } from './store.ts';

export interface Accepted {
  user_id: string;
  workspaces: { workspace_id: string; role: WorkspaceRole }[];
  api_keys: ProvisionedKey[];
}

/**
 * Takes the place that an invite holds ready. Whoever has the link is the one
 * who was invited; there is no other way to know them. A link works once.
 */
export async function acceptInvite(
  call: PublicCall,
  body: BodyOf<'invites.accept'>,
  provision: ProvisionUserKey,
): Promise<Accepted> {
  const hash = hashInviteToken(body.token);
  const { organisationId } = (await findInviteByToken(call.db, hash)) ?? refuse();
  return call.change(organisationId, async (change) => {
    // Read again: whoever came first has it, and a link may have been replaced meanwhile.
    const invite = (await findInviteByToken(change.db, hash)) ?? refuse();
    const status = statusOf(invite, call.now);
    if (status !== 'pending')
      throw new GatewayError('admin.refused', { message: `This invite is ${status}.` });
    const user = await welcomeUser(change, invite, body, call.now);
    const { workspaces, apiKeys } = await joinWorkspaces(change, invite, user, provision, call.now);
    const accepted = await updateInvite(change.db, invite.id, {
      status: 'accepted',
      acceptedAt: call.now,
      updatedAt: call.now,
    });
    change.describe({
      resourceId: invite.id,
      userId: user.id,
      before: presentInvite(invite, call.now),
      after: presentInvite(accepted, call.now),
      detail: { user_id: user.id },
    });
    return { user_id: user.id, workspaces, api_keys: apiKeys };
  });
}

function refuse(): never {
  throw new GatewayError('admin.not_found', {
    message: 'There is no such invite, or its link was replaced.',
  });
}

interface Person {
  id: string;
  email: string;
  role: string;
}

/** The user of the invite's address. Somebody who became one by another way keeps their name, and never loses rank. */
async function welcomeUser(
  change: Change,
  invite: InviteRow,
  names: BodyOf<'invites.accept'>,
  now: Date,
): Promise<Person> {
  const { db } = change;
  const { organisationId, email, role } = invite;
  const known = await findUserByEmail(db, organisationId, email);
  if (known === null) {
    const user = { id: newId(), organisationId, email, role };
    await insertUser(db, {
      ...user,
      firstName: names.first_name ?? '',
      lastName: names.last_name ?? '',
      createdAt: now,
      updatedAt: now,
    });
    change.alsoRecord({
      resourceType: 'users',
      action: 'create',
      resourceId: user.id,
      userId: user.id,
      after: { id: user.id, email, role },
    });
    return user;
  }
  if (known.role !== 'member' || role === 'member') return known;
  await updateUser(db, known.id, { role, updatedAt: now });
  await touchUserKeys(change, { userId: known.id });
  return { ...known, role };
}

/** Workspaces that were archived since are left out. */
async function joinWorkspaces(
  change: Change,
  invite: InviteRow,
  user: Person,
  provision: ProvisionUserKey,
  now: Date,
): Promise<{ workspaces: Accepted['workspaces']; apiKeys: ProvisionedKey[] }> {
  const { db } = change;
  const workspaces: Accepted['workspaces'] = [];
  const apiKeys: ProvisionedKey[] = [];
  const scopes = (invite.apiKeyScopes as string[] | null) ?? undefined;
  for (const { id, role } of invite.workspaces as unknown as InvitedWorkspace[]) {
    const workspace = await findWorkspace(db, invite.organisationId, id);
    if (workspace === null) continue;
    const member = await findMember(db, id, user.id);
    if (member === null) await putMember(db, { workspaceId: id, userId: user.id, role }, now);
    workspaces.push({
      workspace_id: id,
      role: member === null ? role : (member.role as WorkspaceRole),
    });
    const made = await provision(change, { workspace, user, scopes, now });
    if (made !== undefined) apiKeys.push(made);
  }
  const home = await provisionAtHome(change, invite, user, workspaces, provision, now);
  if (home !== undefined) apiKeys.push(home);
  return { workspaces, apiKeys };
}

/** Admins are at home in the default workspace without an invitation to it. */
async function provisionAtHome(
  change: Change,
  invite: InviteRow,
  user: Person,
  joined: Accepted['workspaces'],
  provision: ProvisionUserKey,
  now: Date,
): Promise<ProvisionedKey | undefined> {
  if (user.role === 'member') return undefined;
  const workspace = await findDefaultWorkspace(change.db, invite.organisationId);
  if (workspace === null || joined.some((each) => each.workspace_id === workspace.id))
    return undefined;
  return provision(change, { workspace, user, now });
}
