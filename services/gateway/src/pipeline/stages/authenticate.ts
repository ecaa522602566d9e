import { GatewayError } from '@sluice/errors';
import { isTokenShaped } from '@sluice/jwt';
import type { ResolvedKey } from '../../compiled/resolved-key.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { ConfigStore } from '../../held/config-store.ts';
import type { TokenKeys } from '../../jwt-keys/token-keys.ts';
import type { Stage } from '../pipeline.ts';

/** Who calls: key or token, scope, workspace. Waits only for what was never seen before. */
export function authenticate(
  store: ConfigStore,
  tokens?: TokenKeys,
  /** Instead of those that the endpoint asks for. */
  scopes?: readonly string[],
): Stage {
  return async (exchange, next) => {
    const secret = exchange.arrival.caller.serviceKey;
    if (secret === undefined) throw new GatewayError('auth.missing_key');
    const key =
      tokens !== undefined && isTokenShaped(secret)
        ? (tokens.held(secret, exchange.arrival.startedAtMs) ??
          (await tokens.find(secret, exchange.arrival)))
        : (store.heldKey(secret) ?? (await store.findKey(secret)));
    if (key === undefined) throw new GatewayError('auth.invalid_key');
    checkKey(exchange, key, scopes);
    exchange.key = key;
    const bundle = store.bundle(key.source.workspaceId);
    exchange.bundle = bundle instanceof Promise ? await bundle : bundle;
    if (exchange.bundle === undefined)
      throw new GatewayError('auth.invalid_key', { message: 'The workspace of this key is gone.' });
    exchange.metadata = mergeMetadata(
      exchange.arrival.caller.metadata,
      key.source.metadata,
      exchange.bundle.source.metadata,
    );
    const { progress, arrival } = exchange;
    progress.authenticationMs = performance.now() - arrival.startedAt;
    return next();
  };
}

function checkKey(
  exchange: Exchange,
  key: ResolvedKey,
  scopes: readonly string[] | undefined,
): void {
  if (key.expiresAtMs !== 0 && key.expiresAtMs <= exchange.arrival.startedAtMs)
    throw new GatewayError('auth.expired_key');
  if (!key.isWorkspaceKey)
    throw new GatewayError('auth.wrong_key_type', {
      message: 'An organisation key cannot call models; use a workspace key.',
    });
  const accepted = scopes ?? exchange.subject.operation.scopes;
  if (!accepted.some((scope) => key.scopes.has(scope)))
    throw new GatewayError('auth.missing_scope', { detail: { accepted } });
}

/** Workspace over key over request: what an admin set, a caller cannot change. */
function mergeMetadata(
  request: Readonly<Record<string, string>>,
  key: Readonly<Record<string, string>>,
  workspace: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (isEmpty(key) && isEmpty(workspace)) return request;
  return { ...request, ...key, ...workspace };
}

function isEmpty(record: Readonly<Record<string, string>>): boolean {
  for (const _ in record) return false;
  return true;
}
