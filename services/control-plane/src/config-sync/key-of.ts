import type { MessageInitShape } from '@bufbuild/protobuf';
import type { KeyType } from '@sluice/contracts';
import { standingIn } from '@sluice/contracts';
import { config } from '@sluice/proto-stubs';
import { effectiveSettings } from '../kernel/tenancy/settings.ts';
import { effectiveScopes } from '../people/authentication/authenticate.ts';
import type { KeyRow } from './key-rows.ts';
import { rateLimitMessages, usageLimitMessages } from './limit-messages.ts';

const keyTypes: Readonly<Record<string, config.KeyType>> = {
  'organisation-service': config.KeyType.ORGANISATION_SERVICE,
  'workspace-service': config.KeyType.WORKSPACE_SERVICE,
  'workspace-user': config.KeyType.WORKSPACE_USER,
};

/** Gateways of the release before know no suspended keys, but expired ones. */
const longAgoMs = 1;

/** A key as the gateway needs it. */
export function keyOf(row: KeyRow, now: Date): MessageInitShape<typeof config.KeySchema> {
  const ends = [row.secretExpiresAt, row.expiresAt].flatMap((date) =>
    date === null ? [] : [date.getTime()],
  );
  const endsAtMs = ends.length === 0 ? 0 : Math.min(...ends);
  const isSuspended = row.suspendedAt !== null;
  const expiresAtMs = isSuspended ? longAgoMs : endsAtMs;
  const isExpired = endsAtMs !== 0 && endsAtMs <= now.getTime();
  const standing = standingIn(row.userRole ?? undefined, row.memberRole ?? undefined);
  const settings = effectiveSettings(row.organisationSettings, row.workspaceSettings ?? undefined);
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    type: keyTypes[row.type],
    status: isSuspended
      ? config.KeyStatus.SUSPENDED
      : isExpired
        ? config.KeyStatus.EXPIRED
        : config.KeyStatus.ACTIVE,
    organisationId: row.organisationId,
    workspaceId: row.workspaceId ?? '',
    workspaceSlug: row.workspaceSlug ?? '',
    userId: row.userId ?? '',
    scopes: [...effectiveScopes(row.type as KeyType, row.scopes, standing, settings)],
    expiresAtMs: BigInt(expiresAtMs),
    metadata: row.metadata,
    configSlug: row.configSlug ?? '',
    allowConfigOverride: row.allowConfigOverride,
    rateLimits: rateLimitMessages(row.rateLimits),
    usageLimits: usageLimitMessages(row.usageLimits),
    signInMark: row.signInMark ?? '',
    ...(row.grantId === null ? {} : { mcpGrant: grantOf(row, row.grantId) }),
  };
}

function grantOf(row: KeyRow, id: string): MessageInitShape<typeof config.McpGrantSchema> {
  return {
    id,
    clientId: row.clientId ?? '',
    resource: row.resource ?? '',
    serverId: row.serverId ?? '',
    scope: row.scope ?? '',
    keysJson: JSON.stringify(row.publicJwks ?? []),
  };
}
