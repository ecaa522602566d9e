import type { ResolvedKey } from '../compiled/resolved-key.ts';

/**
 * Whose a session or a task is: of a key, its id; of tokens, the user that they
 * are of, so that a fresh token goes on with it; without a user, the token itself.
 */
export function principalOf(key: ResolvedKey): string {
  const { source, hashHex } = key;
  const isToken = 'validUntilMs' in key;
  return isToken && source.userId === '' ? `token:${hashHex}` : `${source.id}:${source.userId}`;
}
