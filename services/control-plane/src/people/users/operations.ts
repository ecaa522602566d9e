import type { OrganisationRole } from '@sluice/contracts';
import { GatewayError, invalidField } from '@sluice/errors';
import { requireOrganisationRank } from '../../kernel/access/rank.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { isUuid } from '../../kernel/names/ids.ts';
import { removeUserKeys, touchUserKeys } from '../api-keys/user-keys.ts';
import { activeWorkspaceIds } from '../workspaces/store.ts';
import { presentUser } from './present.ts';
import { findUser, removeUser, type UserRow, updateUser } from './store.ts';

/** The user a path names, if they are one of the caller's organisation. */
export async function reachUser(call: AdminRequest, db: Database, id: string): Promise<UserRow> {
  if (!isUuid(id)) throw invalidField('path.userId', 'must be a UUID');
  const user = await findUser(db, call.caller.organisationId, id.toLowerCase());
  if (user === null) throw new GatewayError('admin.not_found');
  return user;
}

export function changeUser(
  call: AdminRequest,
  id: string,
  role: 'admin' | 'member' | undefined,
): Promise<void> {
  return call.change(async (change) => {
    const { db, describe } = change;
    const user = await reachUser(call, db, id);
    const workspaces = await activeWorkspaceIds(db, user.organisationId);
    if (role !== undefined) {
      refuseOwner(user, 'The role of an owner cannot be changed.');
      requireOrganisationRank(call.caller, user.role as OrganisationRole);
      requireOrganisationRank(call.caller, role);
      await updateUser(db, user.id, { role, updatedAt: call.now });
      await touchUserKeys(change, { userId: user.id });
    }
    describe({
      resourceId: user.id,
      before: presentUser(user, workspaces),
      after: presentUser(await reachUser(call, db, id), workspaces),
    });
  });
}

/** Removes a user from the organisation, and with them their memberships and user keys. */
export function deleteUser(call: AdminRequest, id: string): Promise<void> {
  return call.change(async (change) => {
    const { db, describe } = change;
    const user = await reachUser(call, db, id);
    refuseOwner(user, 'An owner cannot be removed.');
    requireOrganisationRank(call.caller, user.role as OrganisationRole);
    const removedKeys = await removeUserKeys(change, { userId: user.id });
    const workspaces = await activeWorkspaceIds(db, user.organisationId);
    await removeUser(db, user.id);
    describe({
      resourceId: user.id,
      before: presentUser(user, workspaces),
      detail: { removed_api_key_ids: removedKeys },
    });
  });
}

/** There is always an owner: so an organisation cannot lock itself out. */
function refuseOwner(user: UserRow, message: string): void {
  if (user.role === 'owner') throw new GatewayError('admin.refused', { message });
}
