import {
  hashServiceKey,
  isWellFormedServiceKey,
  type KeyType,
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
import { type FoundKey, findKeyByHash } from './store.ts';
import type { AuthenticateToken } from './token-caller.ts';

/**
 * Finds the key or JWT that a request carries in `x-service-api-key`, or else as a
 * bearer token. The database is asked each time, so that a revoked key is refused at
 * once; text that cannot be a key is refused without asking.
 */
export function createAuthenticate(options: {
  db: Database;
  pepper: Buffer;
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
    const found = await findKeyByHash(options.db, hashServiceKey(key, options.pepper));
    if (found === undefined || found.workspaceStatus === 'archived')
      throw new GatewayError('auth.invalid_key');
    const now = options.now();
    if (isPast(found.secretExpiresAt, now) || isPast(found.expiresAt, now))
      throw new GatewayError('auth.expired_key');
    return asCaller(found);
  };
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
