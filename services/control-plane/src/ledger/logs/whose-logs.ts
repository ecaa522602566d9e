import type { Caller } from '../../kernel/access/caller.ts';

/** Of what keys did, what a caller may look at one by one. */
export interface WhoseLogs {
  readonly organisationId: string;
  /** Empty = of every workspace. */
  readonly workspaceIds: string[];
  readonly userId: string | undefined;
  /** Set where a key may only see what it did itself. */
  readonly apiKeyId: string | undefined;
}

/**
 * A key that calls models sees its own requests, whatever its scopes; those of
 * others take a scope of logs. Data visibility narrows both to the key's user.
 */
export function whoseLogs(caller: Caller): WhoseLogs {
  const { organisationId, workspaceId, keyId, userId, scopes } = caller;
  const seesOthers = ['logs.view', 'logs.list', 'logs.read'].some((scope) => scopes.has(scope));
  return {
    organisationId,
    workspaceIds: workspaceId === undefined ? [] : [workspaceId],
    // An empty name is nobody's: a person that cannot be told sees nothing, not all.
    userId: caller.seesOwnDataOnly ? (userId ?? '') : undefined,
    apiKeyId: seesOthers ? undefined : keyId,
  };
}
