import { defaultSettings, type Settings } from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { isUuid } from '../../kernel/names/ids.ts';
import { requireReach } from '../../kernel/tenancy/target-workspace.ts';
import { presentApiKey } from './present.ts';
import { isLimitedByRole, requireRoleForKey } from './roles.ts';
import { type ApiKeyRow, findApiKey, readSettings } from './store.ts';

/** The key a path names, if it is in the caller's reach, of a kind whose scopes they hold, and their role lets them. */
export async function reachApiKey(
  call: AdminRequest,
  db: Database,
  id: string,
  action: 'view' | 'manage',
): Promise<ApiKeyRow> {
  if (!isUuid(id)) throw invalidField('path.id', 'must be a UUID');
  const key = await findApiKey(db, id.toLowerCase());
  requireReach(call.caller, key);
  const found = key as ApiKeyRow;
  call.permit(found.type);
  const { keys } = await settingsFor(call, db);
  requireRoleForKey(call.caller, keys, action, found);
  return found;
}

/** What limits the person behind the caller's key; where nobody is limited, nothing is read. */
export async function settingsFor({ caller }: AdminRequest, db: Database): Promise<Settings> {
  if (!isLimitedByRole(caller)) return defaultSettings;
  return readSettings(db, caller.organisationId, caller.workspaceId);
}

/** The key as it is shown now, for the audit log. */
export async function showApiKey(db: Database, id: string, now: Date) {
  const key = await findApiKey(db, id);
  return key === null ? undefined : presentApiKey(key, now);
}
