import { GatewayError } from '@sluice/errors';
import type { Caller } from '../../kernel/access/caller.ts';

/**
 * Whose logs of their own are taken: a key of a workspace with both scopes.
 * @throws GatewayError to all others
 */
export function refuseWriter(caller: Caller): asserts caller is Caller & { workspaceId: string } {
  if (caller.workspaceId === undefined)
    throw new GatewayError('auth.wrong_key_type', {
      message: 'This kind of key cannot be used here; it takes the key of a workspace.',
    });
  for (const scope of ['completions.write', 'logs.write'])
    if (!caller.scopes.has(scope))
      throw new GatewayError('auth.missing_scope', { message: `This takes the scope ${scope}.` });
}
