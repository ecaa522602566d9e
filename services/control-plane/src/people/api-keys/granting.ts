import { type KeyType, scopesOf } from '@sluice/contracts';
import { GatewayError, invalidField } from '@sluice/errors';
import type { Caller } from '../../kernel/access/caller.ts';

/** @throws 400 when a scope does not exist for this kind of key. */
export function requireKnownScopes(
  type: KeyType,
  scopes: readonly string[],
  field = 'body.scopes',
): void {
  const known = new Set(scopesOf(type));
  const stranger = scopes.findIndex((scope) => !known.has(scope));
  if (stranger >= 0)
    throw invalidField(`${field}[${stranger}]`, `${scopes[stranger]} is no scope of a ${type} key`);
}

/**
 * Nobody hands out what they do not hold. Scopes that the caller's kind of key
 * cannot hold at all (an organisation key and `completions.write`) are not the
 * caller's to lack, so they may be given.
 * @throws 403 naming the first scope that goes too far.
 */
export function requireHeldScopes(caller: Caller, scopes: readonly string[]): void {
  const holdable = new Set(scopesOf(caller.keyType));
  const missing = scopes.find((scope) => holdable.has(scope) && !caller.scopes.has(scope));
  if (missing !== undefined)
    throw new GatewayError('auth.missing_scope', {
      message: `This key cannot give ${missing}, which it does not hold.`,
    });
}
