import type { KeyType } from '@sluice/contracts';
import type { Settings } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import type { Caller } from '../../kernel/access/caller.ts';

/**
 * What the person behind a key may do with keys, beside what the key's scopes
 * say. Admins may do all; managers what the settings leave them; members, if
 * the settings let them, with user keys of their own. A key behind which
 * nobody stands has its scopes only.
 */
type KeySettings = Settings['keys'];

export function isLimitedByRole(caller: Caller): boolean {
  return caller.role === 'manager' || caller.role === 'member';
}

/** @throws 403 when the role of the person behind the caller's key does not reach this key. */
export function requireRoleForKey(
  caller: Caller,
  settings: KeySettings,
  action: 'view' | 'manage',
  key: { type: string; userId: string | null | undefined },
): void {
  requireRole(caller, settings, action);
  if (caller.role === 'member' && !(key.type === userKey && key.userId === caller.userId))
    throw refusal('Members of a workspace handle user keys of their own only.');
}

/** @throws 403 when they may do so with no key at all. */
export function requireRole(
  caller: Caller,
  settings: KeySettings,
  action: 'view' | 'manage',
): void {
  if (!isLimitedByRole(caller)) return;
  const switches =
    caller.role === 'manager'
      ? { view: settings.managersViewKeys, manage: settings.managersManageKeys }
      : { view: settings.membersViewKeys, manage: settings.membersManageKeys };
  if (!switches[action]) throw refusal(`The settings do not let ${caller.role}s ${action} keys.`);
}

/** The only user whose keys they may see; nothing for those who may see all. */
export function onlyKeysOf(caller: Caller): string | undefined {
  return caller.role === 'member' ? (caller.userId ?? '') : undefined;
}

const userKey: KeyType = 'workspace-user';

function refusal(message: string): GatewayError {
  return new GatewayError('auth.missing_scope', { message });
}
