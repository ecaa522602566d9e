import { create } from '@bufbuild/protobuf';
import { jwtScopes } from '@sluice/contracts';
import { entityCounters } from '@sluice/engine';
import {
  type CachedToken,
  maskToken,
  subjectId,
  type TokenUsageLimit,
  type VerifiedToken,
} from '@sluice/jwt';
import { config } from '@sluice/proto-stubs';
import type { ResolvedKey } from '../compiled/resolved-key.ts';

/** A caller's token in the form of the key it stands in for. */
export interface TokenKey extends ResolvedKey, CachedToken {
  /** For those who enforce budgets. */
  readonly usageLimits: readonly TokenUsageLimit[];
}

export interface TokenParts {
  token: string;
  /** What the limits in its claims are counted by: never the spelling of its signature. */
  identity: string;
  verified: VerifiedToken;
  organisationId: string;
  workspace: config.WorkspaceName;
  /** For a token that names none. */
  defaultScopes: readonly string[];
}

const metadataValueMax = 128;

/**
 * Everything later stages ask of a key, answered by a token. It stands for its
 * user: all tokens of one share an id, while the limits in its claims are
 * counted for each token alone.
 */
export function tokenKey(parts: TokenParts): TokenKey {
  const { identity, organisationId, workspace } = parts;
  const { claims, validUntilMs } = parts.verified;
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
    counters: entityCounters(claims.rateLimits, 'token', identity, name),
    usageLimits: claims.usageLimits,
  };
}
