import { roleInWorkspace } from '@sluice/contracts';
import type { Settings } from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { requireRole } from './roles.ts';
import { findUser } from './store.ts';

/**
 * The user a new user key belongs to: the one named, or else the one behind the
 * caller's key. They must have a place in the workspace. Whoever may make no
 * keys at all is told so before they learn who has one.
 */
export async function userOfKey(
  { caller }: AdminRequest,
  db: Database,
  settings: Settings,
  workspaceId: string,
  named: string | undefined,
): Promise<string> {
  const id = named ?? caller.userId;
  if (id === undefined)
    throw invalidField('body.user_id', 'is required: nobody stands behind this key');
  requireRole(caller, settings.keys, 'manage');
  const user = await findUser(db, caller.organisationId, id, workspaceId);
  if (user === null) throw invalidField('body.user_id', 'is no user of this organisation');
  if (roleInWorkspace(user.role, user.memberships[0]?.role) === undefined)
    throw invalidField('body.user_id', 'is no member of the workspace');
  return user.id;
}
