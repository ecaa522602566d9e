import { operations } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { isTokenShaped } from '@sluice/jwt';
import { config } from '@sluice/proto-stubs';
import type { CompiledBundle } from '../../compiled/compiled-bundle.ts';
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
  /** Who comes in by something that is no key, here. */
  ways: readonly WayIn[] = [],
): Stage {
  return (exchange, next) => {
    const secret = exchange.arrival.caller.serviceKey;
    const way = secret === undefined ? undefined : ways.find(({ isMeant }) => isMeant(secret));
    const admitted =
      way !== undefined && secret !== undefined
        ? way
            .enter(exchange, secret)
            .then(({ key, isLook }) =>
              isLook ? welcome(exchange, key, store) : admit(exchange, key, store, scopes),
            )
        : letIn(exchange, store, tokens, scopes);
    return admitted instanceof Promise ? admitted.then(next) : next();
  };
}

/** By what others than keys come in: lines of batches, looks at what goes on, browsers with a secret that was made for them. */
export interface WayIn {
  readonly isMeant: (secret: string) => boolean;
  /**
   * The key that it stands for; one that only looks need not be in force any more.
   * @throws GatewayError `auth.job_token`, `auth.invalid_key`
   */
  readonly enter: (
    exchange: Exchange,
    secret: string,
  ) => Promise<{ key: ResolvedKey; isLook: boolean }>;
}

/** The same of a request that has no pipeline. @throws GatewayError */
export function letIn(
  exchange: Exchange,
  store: ConfigStore,
  tokens: TokenKeys | undefined,
  scopes?: readonly string[],
): void | Promise<void> {
  const enter = (key: ResolvedKey | undefined) => {
    if (key === undefined) throw new GatewayError('auth.invalid_key');
    return admit(exchange, key, store, scopes);
  };
  const found = keyOfCaller(exchange, store, tokens);
  return found instanceof Promise ? found.then(enter) : enter(found);
}

/**
 * Lets in whoever has this key, into its workspace. Waits only for a workspace that was never seen before.
 * @throws GatewayError as `checkKey` does, and `auth.invalid_key` when the workspace is gone
 */
export function admit(
  exchange: Exchange,
  key: ResolvedKey,
  store: Pick<ConfigStore, 'bundle'>,
  scopes?: readonly string[],
): void | Promise<void> {
  checkKey(exchange, key, scopes);
  return welcome(exchange, key, store);
}

/** The same, whatever the key may do. */
function welcome(
  exchange: Exchange,
  key: ResolvedKey,
  store: Pick<ConfigStore, 'bundle'>,
): void | Promise<void> {
  // Told in the log and the ledger even if the workspace cannot be had.
  exchange.key = key;
  const enter = (bundle: CompiledBundle | undefined) => {
    if (bundle === undefined)
      throw new GatewayError('auth.invalid_key', { message: 'The workspace of this key is gone.' });
    enterWorkspace(exchange, key, bundle);
    const { progress, arrival } = exchange;
    progress.authenticationMs = performance.now() - arrival.startedAt;
  };
  const held = store.bundle(key.source.workspaceId);
  return held instanceof Promise ? held.then(enter) : enter(held);
}

/**
 * Who was let in before and goes on asking, by the key, the rights and the workspace that hold now. Waits only for what is
 * not held here any more.
 * @throws GatewayError as `admit` does, and `auth.invalid_key` when the key is gone
 */
export function letInAgain(
  exchange: Exchange,
  store: Pick<ConfigStore, 'heldKey' | 'findKey' | 'heldNow' | 'keyOfHash' | 'bundle'>,
  tokens: TokenKeys | undefined,
): void | Promise<void> {
  const { key: then } = exchange;
  if (then === undefined) throw new Error('nobody was let in');
  const enter = (key: ResolvedKey | undefined) => {
    if (key === undefined) throw new GatewayError('auth.invalid_key');
    return admit(exchange, key, store);
  };
  // Of a batch's line no secret is known here any more; under another pepper a key has another hash.
  const ask = async () =>
    (await keyOfCaller(exchange, store, tokens)) ?? store.keyOfHash(then.hashHex);
  // Who vouches for a token is asked again in its time.
  const found =
    'validUntilMs' in then ? keyOfCaller(exchange, store, tokens) : (store.heldNow(then) ?? ask());
  return found instanceof Promise ? found.then(enter) : enter(found);
}

/** The same before each further step of a request that takes several. */
export function authenticateAgain(store: ConfigStore, tokens?: TokenKeys): Stage {
  return (exchange, next) => {
    const admitted = letInAgain(exchange, store, tokens);
    return admitted instanceof Promise ? admitted.then(next) : next();
  };
}

/** The key of the secret that came; undefined when there is none. */
export function keyOfCaller(
  { arrival }: Exchange,
  store: Pick<ConfigStore, 'heldKey' | 'findKey'>,
  tokens: TokenKeys | undefined,
): ResolvedKey | Promise<ResolvedKey | undefined> {
  const secret = arrival.caller.serviceKey;
  if (secret === undefined) throw new GatewayError('auth.missing_key');
  return tokens !== undefined && isTokenShaped(secret)
    ? (tokens.held(secret, arrival.startedAtMs) ?? tokens.find(secret, arrival))
    : (store.heldKey(secret) ?? store.findKey(secret));
}

/** @throws GatewayError `auth.suspended_key`, `auth.expired_key`, `auth.wrong_key_type`, `auth.missing_scope` */
export function checkKey(exchange: Exchange, key: ResolvedKey, scopes?: readonly string[]): void {
  refuseEnded(key, exchange);
  if (!key.isWorkspaceKey)
    throw new GatewayError('auth.wrong_key_type', {
      message: `${noOperationHere(exchange)}An organisation key cannot call models; use a workspace key.`,
    });
  const accepted = scopes ?? exchange.subject.operation.scopes;
  if (!accepted.some((scope) => key.scopes.has(scope)))
    throw new GatewayError('auth.missing_scope', {
      message: `You do not have enough permissions to execute this request: the key needs one of the scopes ${accepted.join(', ')}.`,
      detail: { accepted },
    });
}

/** Whoever has an organisation key and asks for what only passes through most likely mistyped an admin operation. */
function noOperationHere({ subject }: Exchange): string {
  return subject.operation.at === operations.proxy.at
    ? 'No admin operation has this path; GET /v1/openapi.json has them all. '
    : '';
}

/** @throws GatewayError `auth.suspended_key`, `auth.expired_key` */
export function refuseEnded({ source, expiresAtMs }: ResolvedKey, { arrival }: Exchange): void {
  if (source.status === config.KeyStatus.SUSPENDED) throw new GatewayError('auth.suspended_key');
  if (expiresAtMs !== 0 && expiresAtMs <= arrival.startedAtMs)
    throw new GatewayError('auth.expired_key');
}

/** From here on the request is the key's, in its workspace. */
export function enterWorkspace(exchange: Exchange, key: ResolvedKey, bundle: CompiledBundle): void {
  exchange.key = key;
  exchange.bundle = bundle;
  exchange.metadata = mergeMetadata(
    exchange.arrival.caller.metadata,
    key.source.metadata,
    bundle.source.metadata,
  );
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
