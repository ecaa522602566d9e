import type { WorkspaceRole } from '@sluice/contracts';
import type { BodyOf } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import type { Caller } from '../../kernel/access/caller.ts';
import { requireWorkspaceRank } from '../../kernel/access/rank.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { isUuid } from '../../kernel/names/ids.ts';
import type { ProvisionUserKey } from '../api-keys/provision-user-key.ts';
import { removeUserKeys, touchUserKeys } from '../api-keys/user-keys.ts';
import { reachActiveWorkspace } from '../workspaces/operations.ts';
import { type MembersWorkspace, presentMember } from '../workspaces/present-member.ts';
import { knownUserIds } from '../workspaces/store.ts';
import { findMember, type MemberRow, putMember, removeMember } from './store.ts';

/** The member a path names; who is none is not found, even if they act as admin everywhere. */
export async function reachMember(
  db: Database,
  workspace: MembersWorkspace,
  userId: string,
): Promise<MemberRow> {
  if (!isUuid(userId)) throw invalidField('path.userId', 'must be a UUID');
  const member = await findMember(db, workspace.id, userId.toLowerCase());
  if (member === null) throw new GatewayError('admin.not_found');
  return member;
}

/** Adds users of the organisation; who is a member already gets the role that is named now. */
export function addMembers(
  call: AdminRequest,
  reference: string,
  { users }: BodyOf<'workspace-members.create'>,
  provision: ProvisionUserKey,
): Promise<void> {
  return call.change(async (change) => {
    const { db, describe } = change;
    const workspace = await reachActiveWorkspace(call, db, reference);
    const known = await knownUserIds(
      db,
      workspace.organisationId,
      users.map((user) => user.id),
    );
    const before: object[] = [];
    const after: object[] = [];
    for (const [index, { id: userId, role }] of users.entries()) {
      if (!known.has(userId))
        throw invalidField(`body.users[${index}].id`, 'is no user of this organisation');
      const present = await findMember(db, workspace.id, userId);
      requireRank(call.caller, role, present);
      await putMember(db, { workspaceId: workspace.id, userId, role }, call.now);
      await touchUserKeys(change, { userId, workspaceId: workspace.id });
      const member = await reachMember(db, workspace, userId);
      if (present === null)
        await provision(change, { workspace, user: member.user, now: call.now });
      else before.push(presentMember(workspace, present));
      after.push(presentMember(workspace, member));
    }
    describe({
      resourceId: users.length === 1 ? users[0]?.id : undefined,
      workspaceId: workspace.id,
      before: { users: before },
      after: { users: after },
    });
  });
}

export function changeMember(
  call: AdminRequest,
  reference: string,
  userId: string,
  role: WorkspaceRole | undefined,
): Promise<void> {
  return call.change(async (change) => {
    const { db, describe } = change;
    const workspace = await reachActiveWorkspace(call, db, reference);
    const member = await reachMember(db, workspace, userId);
    if (role !== undefined) {
      requireRank(call.caller, role, member);
      await putMember(db, { workspaceId: workspace.id, userId: member.userId, role }, call.now);
      await touchUserKeys(change, { userId: member.userId, workspaceId: workspace.id });
    }
    describe({
      resourceId: member.userId,
      workspaceId: workspace.id,
      before: presentMember(workspace, member),
      after: presentMember(workspace, await reachMember(db, workspace, userId)),
    });
  });
}

/** Removes a member and their user keys of the workspace. */
export function deleteMember(call: AdminRequest, reference: string, userId: string): Promise<void> {
  return call.change(async (change) => {
    const { db, describe } = change;
    const workspace = await reachActiveWorkspace(call, db, reference);
    const member = await reachMember(db, workspace, userId);
    requireRank(call.caller, 'member', member);
    const removedKeys = await removeUserKeys(change, {
      userId: member.userId,
      workspaceId: workspace.id,
    });
    await removeMember(db, workspace.id, member.userId);
    describe({
      resourceId: member.userId,
      workspaceId: workspace.id,
      before: presentMember(workspace, member),
      detail: { removed_api_key_ids: removedKeys },
    });
  });
}

/** The role that somebody is to have, and the one that they have, must not be above the caller's. @throws 403 */
function requireRank(caller: Caller, role: WorkspaceRole, present: MemberRow | null): void {
  requireWorkspaceRank(caller, [role, (present?.role ?? 'member') as WorkspaceRole]);
}
