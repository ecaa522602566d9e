import { create } from '@bufbuild/protobuf';
import { jwtScopes, metadataValueMax } from '@sluice/contracts';
import { type Counter, entityCounters, readLimits } from '@sluice/engine';
import { type CachedToken, maskToken, subjectId, type VerifiedToken } from '@sluice/jwt';
import { config } from '@sluice/proto-stubs';
import type { ResolvedKey } from '../compiled/resolved-key.ts';

/** A caller's token in the form of the key it stands in for. */
export type TokenKey = ResolvedKey & CachedToken;

export interface TokenParts {
  token: string;
  /** What the token is known by: never the spelling of its signature. */
  identity: string;
  verified: VerifiedToken;
  organisationId: string;
  workspace: config.WorkspaceName;
  /** For a token that names none. */
  defaultScopes: readonly string[];
}

/**
 * Everything later stages ask of a key, answered by a token. It stands for its
 * user: all tokens of one share an id, and the limits in its claims are counted by
 * that, so that a fresh token does not begin anew.
 */
export function tokenKey(parts: TokenParts): TokenKey {
  const { identity, organisationId, workspace } = parts;
  const { claims, payload, validUntilMs } = parts.verified;
  const name = claims.user ?? maskToken(parts.token);
  const scopes = (claims.scopes ?? parts.defaultScopes).filter((scope) => jwtScopes.has(scope));
  const user = claims.user?.slice(0, metadataValueMax);
  const source = create(config.KeySchema, {
    id: subjectId(organisationId, claims.user),
    name,
    slug: name,
    type: config.KeyType.WORKSPACE_SERVICE,
    status: config.KeyStatus.ACTIVE,
    organisationId,
    workspaceId: workspace.id,
    workspaceSlug: workspace.slug,
    userId: claims.user ?? '',
    scopes,
    expiresAtMs: BigInt(validUntilMs),
    metadata: { ...(user === undefined ? {} : { _user: user }), ...claims.metadata },
    configSlug: claims.configId ?? '',
    allowConfigOverride: true,
  });
  return {
    hashHex: identity,
    source,
    scopes: new Set(scopes),
    expiresAtMs: validUntilMs,
    validUntilMs,
    isWorkspaceKey: true,
    tokenClaims: payload,
    // Without a user there is nothing but the token to count by.
    counters: claimedCounters(
      claims.user === undefined ? identity : source.id,
      name,
      workspace.id,
      claims,
    ),
  };
}

const nanoUsd = 1e9;

/**
 * The limits in a token's claims; a budget has no period: the claims name none. One that counts something else
 * than a token before it is another, also under the same id: nano-dollars are no tokens.
 */
function claimedCounters(
  subject: string,
  name: string,
  workspaceId: string,
  claims: VerifiedToken['claims'],
): Counter[] {
  const scope = `token:${subject}`;
  const limits = readLimits({ kind: 'token', name, workspaceId }, scope, {
    rates: claims.rateLimits.map((rate) => ({ ...rate, id: '' })),
    budgets: claims.usageLimits.map(({ id, type, creditLimit }) => ({
      id: id === undefined ? '' : `${type === 'cost' ? scope : `token-tokens:${subject}`}:${id}`,
      type,
      value: Math.min(
        Number.MAX_SAFE_INTEGER,
        Math.floor(type === 'cost' ? creditLimit * nanoUsd : creditLimit),
      ),
      period: undefined,
    })),
  });
  return entityCounters(limits);
}
