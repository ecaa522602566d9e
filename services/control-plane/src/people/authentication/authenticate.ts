import {
  hashServiceKey,
  isWellFormedServiceKey,
  type KeyType,
  pepperName,
  roleAllowsScope,
  type Standing,
  seesAllData,
  standingIn,
} from '@sluice/contracts';
import type { Settings } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import { isTokenShaped } from '@sluice/jwt';
import type { Request } from 'express';
import type { Authenticate, Caller } from '../../kernel/access/caller.ts';
import type { Database } from '../../kernel/database/client.ts';
import { effectiveSettings } from '../../kernel/tenancy/settings.ts';
import { type FoundKey, findKeyByHash, rehashSecret } from './store.ts';
import type { AuthenticateToken } from './token-caller.ts';

/**
 * Finds the key or JWT that a request carries in `x-service-api-key`, or else as a
 * bearer token. The database is asked each time, so that a revoked key is refused at
 * once; text that cannot be a key is refused without asking.
 */
export function createAuthenticate(options: {
  db: Database;
  /** The first is in use; hashes may be of the others, and are of the first from then on. */
  peppers: readonly Buffer[];
  now: () => Date;
  /** Undefined = JWTs are no credentials here. */
  authenticateToken?: AuthenticateToken | undefined;
}): Authenticate {
  return async (req) => {
    const key = sentKey(req);
    if (key === undefined) throw new GatewayError('auth.missing_key');
    if (options.authenticateToken !== undefined && isTokenShaped(key))
      return options.authenticateToken(key, req);
    if (!isWellFormedServiceKey(key)) throw new GatewayError('auth.invalid_key');
    const found = await findKey(options.db, key, options.peppers);
    if (found === undefined || found.workspaceStatus === 'archived')
      throw new GatewayError('auth.invalid_key');
    const now = options.now();
    if (isPast(found.secretExpiresAt, now) || isPast(found.expiresAt, now))
      throw new GatewayError('auth.expired_key');
    if (found.suspendedAt !== null) throw new GatewayError('auth.suspended_key');
    return asCaller(found);
  };
}

/** By its hash under any of the peppers. One that is found by another than the first is kept by the first from then on. */
async function findKey(
  db: Database,
  key: string,
  [current, ...others]: readonly Buffer[],
): Promise<FoundKey | undefined> {
  if (current === undefined) return undefined;
  const hash = hashServiceKey(key, current);
  const found = await findKeyByHash(db, hash);
  if (found !== undefined) return found;
  for (const pepper of others) {
    const before = hashServiceKey(key, pepper);
    const foundBefore = await findKeyByHash(db, before);
    if (foundBefore === undefined) continue;
    // The key is good whether or not this can be written now.
    await rehashSecret(db, before, hash, pepperName(current)).catch(() => {});
    return foundBefore;
  }
  return undefined;
}

function sentKey(req: Request): string | undefined {
  const header = req.headers['x-service-api-key'];
  if (typeof header === 'string' && header !== '') return header.trim();
  return /^Bearer\s+(\S+)$/i.exec(req.headers.authorization ?? '')?.[1];
}

function isPast(date: Date | null, now: Date): boolean {
  return date !== null && date <= now;
}

function asCaller(key: FoundKey): Caller {
  const standing = standingIn(key.userRole ?? undefined, key.memberRole ?? undefined);
  const settings = effectiveSettings(key.organisationSettings, key.workspaceSettings ?? undefined);
  return {
    keyId: key.id,
    keyType: key.type as KeyType,
    organisationId: key.organisationId,
    workspaceId: key.workspaceId ?? undefined,
    userId: key.userId ?? undefined,
    role: standing?.role,
    scopes: new Set(effectiveScopes(key.type as KeyType, key.scopes, standing, settings)),
    seesOwnDataOnly: key.type === 'workspace-user' && !seesAllData(standing, settings),
  };
}

/** A user key does what its user may do; a service key what it was given. */
export function effectiveScopes(
  type: KeyType,
  scopes: readonly string[],
  standing: Standing | undefined,
  settings: Settings,
): readonly string[] {
  if (type !== 'workspace-user') return scopes;
  if (standing === undefined) return [];
  return scopes.filter((scope) => roleAllowsScope(standing, scope, settings));
}
