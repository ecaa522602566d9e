import { GatewayError } from '@sluice/errors';
import { config } from '@sluice/proto-stubs';
import { isUuid } from '@sluice/usage';
import type { ResolvedKey } from '../../compiled/resolved-key.ts';
import type { ConfigStore } from '../../held/config-store.ts';
import type { TokenKeys } from '../../jwt-keys/token-keys.ts';
import type { Stage } from '../pipeline.ts';
import { enterWorkspace, keyOfCaller, refuseEnded } from './authenticate.ts';

/**
 * For who administers keys and asks what one of them may do: who asks is
 * checked, and the key takes its place. Whether that key itself may is left to
 * the answer, since it is what is asked.
 */
export function authenticateFor(
  keyId: string,
  store: Pick<ConfigStore, 'heldKey' | 'findKey' | 'keyOfId' | 'bundle'>,
  tokens: TokenKeys | undefined,
): Stage {
  return async (exchange, next) => {
    const asking = await keyOfCaller(exchange, store, tokens);
    if (asking === undefined) throw new GatewayError('auth.invalid_key');
    refuseEnded(asking, exchange);
    if (!Object.values(scopeOfType).some((scope) => asking.scopes.has(scope)))
      throw new GatewayError('auth.missing_scope', {
        detail: { accepted: Object.values(scopeOfType) },
      });
    const key = isUuid(keyId) ? await store.keyOfId(keyId) : undefined;
    if (key === undefined || !maySee(asking, key)) throw unknownKey();
    const bundle = await store.bundle(key.source.workspaceId);
    if (bundle === undefined) throw unknownKey();
    enterWorkspace(exchange, key, bundle);
    return next();
  };
}

/** The scopes that reading the key itself takes, by its type; others call no models. */
const scopeOfType: Readonly<Partial<Record<config.KeyType, string>>> = {
  [config.KeyType.WORKSPACE_SERVICE]: 'workspace_service_api_keys.read',
  [config.KeyType.WORKSPACE_USER]: 'workspace_user_api_keys.read',
};

function maySee(asking: ResolvedKey, { source }: ResolvedKey): boolean {
  const scope = scopeOfType[source.type];
  return (
    scope !== undefined &&
    asking.scopes.has(scope) &&
    asking.source.organisationId === source.organisationId &&
    (!asking.isWorkspaceKey || asking.source.workspaceId === source.workspaceId)
  );
}

function unknownKey(): GatewayError {
  return new GatewayError('request.invalid_field', {
    field: 'query.api_key_id',
    message: 'This is not the UUID of a workspace key that you may see.',
  });
}
