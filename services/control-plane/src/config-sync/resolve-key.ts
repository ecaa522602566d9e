import type { MessageInitShape } from '@bufbuild/protobuf';
import type { KeyType } from '@sluice/contracts';
import { standingIn } from '@sluice/contracts';
import { config } from '@sluice/proto-stubs';
import type { Database } from '../kernel/database/client.ts';
import { effectiveSettings } from '../kernel/tenancy/settings.ts';
import { effectiveScopes } from '../people/authentication/authenticate.ts';
import { findKeyByHash } from '../people/authentication/store.ts';

const keyTypes: Readonly<Record<string, config.KeyType>> = {
  'organisation-service': config.KeyType.ORGANISATION_SERVICE,
  'workspace-service': config.KeyType.WORKSPACE_SERVICE,
  'workspace-user': config.KeyType.WORKSPACE_USER,
};

/** The key behind a hash as the gateway needs it; `undefined` when nobody has such a key. */
export async function resolveKey(
  db: Database,
  hash: Buffer,
  now: Date,
): Promise<MessageInitShape<typeof config.KeySchema> | undefined> {
  const secret = await findKeyByHash(db, hash);
  if (secret === null || secret.apiKey.workspace?.status === 'archived') return undefined;
  const key = secret.apiKey;
  const ends = [secret.expiresAt, key.expiresAt].flatMap((date) =>
    date === null ? [] : [date.getTime()],
  );
  const expiresAtMs = ends.length === 0 ? 0 : Math.min(...ends);
  const membership = key.user?.memberships.find(
    (member) => member.workspaceId === key.workspaceId,
  )?.role;
  const standing = standingIn(key.user?.role, membership);
  const settings = effectiveSettings(key.organisation.settings, key.workspace?.settings);
  return {
    id: key.id,
    name: key.name,
    slug: key.slug,
    type: keyTypes[key.type],
    status: statusOf(key.status, expiresAtMs, now),
    organisationId: key.organisationId,
    workspaceId: key.workspaceId ?? '',
    workspaceSlug: key.workspace?.slug ?? '',
    userId: key.userId ?? '',
    scopes: [...effectiveScopes(key.type as KeyType, key.scopes, standing, settings)],
    expiresAtMs: BigInt(expiresAtMs),
    metadata: key.metadata as Record<string, string>,
    configSlug: key.config?.slug ?? '',
    allowConfigOverride: key.allowConfigOverride,
    rateLimits: (key.rateLimits as { type: string; unit: string; value: number }[]).map(
      (limit) => ({
        type: limit.type,
        unit: limit.unit,
        value: BigInt(limit.value),
      }),
    ),
  };
}

function statusOf(status: string, expiresAtMs: number, now: Date): config.KeyStatus {
  if (expiresAtMs !== 0 && expiresAtMs <= now.getTime()) return config.KeyStatus.EXPIRED;
  return status === 'exhausted' ? config.KeyStatus.EXHAUSTED : config.KeyStatus.ACTIVE;
}
