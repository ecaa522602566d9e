import type { Settings } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';

/** What an organisation asks of user keys; of other keys it asks nothing. */
export type UserKeyRules = Settings['user_keys'];

/** When a new key ends: as asked, or else after the usual time, and never later than allowed. */
export function endOfNewKey(
  asked: Date | null | undefined,
  rules: UserKeyRules | undefined,
  now: Date,
): Date | null {
  if (asked != null) return allowedEnd(asked, rules, now);
  const seconds = Math.min(
    rules?.user_api_key_ttl ?? Number.POSITIVE_INFINITY,
    rules?.user_api_key_max_ttl ?? Number.POSITIVE_INFINITY,
  );
  return Number.isFinite(seconds) ? after(now, seconds) : null;
}

/** The same for a key that exists: nothing asked, nothing changed. */
export function endOfChangedKey(
  asked: Date | null | undefined,
  rules: UserKeyRules | undefined,
  now: Date,
): Date | null | undefined {
  if (asked === undefined) return undefined;
  return allowedEnd(asked, rules, now);
}

function allowedEnd(asked: Date | null, rules: UserKeyRules | undefined, now: Date): Date | null {
  const longest = rules?.user_api_key_max_ttl ?? null;
  if (longest === null) return asked;
  const latest = after(now, longest);
  if (asked === null || asked > latest)
    throw invalidField('body.expires_at', `must not be after ${latest.toISOString()}`);
  return asked;
}

/** @throws 400 when one more user key is one too many. */
export function requireRoom(
  rules: UserKeyRules,
  counts: { ofUser: number; ofWorkspace: number },
): void {
  const { max_user_api_keys_per_user: perUser, max_user_api_keys_per_workspace: perWorkspace } =
    rules;
  if (perUser !== null && counts.ofUser >= perUser)
    throw new GatewayError('admin.refused', {
      message: `A user may have ${perUser} user keys in the workspace.`,
    });
  if (perWorkspace !== null && counts.ofWorkspace >= perWorkspace)
    throw new GatewayError('admin.refused', {
      message: `The workspace may have ${perWorkspace} user keys.`,
    });
}

function after(now: Date, seconds: number): Date {
  return new Date(now.getTime() + seconds * 1000);
}
