import { Prisma } from '../../generated/prisma/client.ts';
import { bytes } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';

/** A key as its caller is known by it. */
export interface FoundKey {
  readonly id: string;
  readonly type: string;
  readonly organisationId: string;
  readonly workspaceId: string | null;
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
  readonly suspendedAt: Date | null;
  /** Of the secret that was sent. */
  readonly secretExpiresAt: Date | null;
  readonly organisationSettings: unknown;
  /** Null where the key has no workspace, and so is its status. */
  readonly workspaceSettings: unknown;
  readonly workspaceStatus: string | null;
  /** Who stands behind the key: its user, or else who made it. */
  readonly userId: string | null;
  readonly userRole: string | null;
  /** What they are in the key's workspace. */
  readonly memberRole: string | null;
}

/**
 * The key that has a secret of this hash. One statement, since every admin call
 * begins with it: with an include for each of its tables it was nine.
 */
export async function findKeyByHash(db: Database, hash: Buffer): Promise<FoundKey | undefined> {
  const rows = await db.$queryRaw<FoundKey[]>(Prisma.sql`
    SELECT key.id::text, key.type, key.organisation_id::text AS "organisationId",
      key.workspace_id::text AS "workspaceId", key.scopes, key.expires_at AS "expiresAt", key.suspended_at AS "suspendedAt",
      secret.expires_at AS "secretExpiresAt", organisation.settings AS "organisationSettings",
      workspace.settings AS "workspaceSettings", workspace.status AS "workspaceStatus",
      person.id::text AS "userId", person.role AS "userRole", member.role AS "memberRole"
    FROM api_key_secrets AS secret
      JOIN api_keys AS key ON key.id = secret.api_key_id
      JOIN organisations AS organisation ON organisation.id = key.organisation_id
      LEFT JOIN workspaces AS workspace ON workspace.id = key.workspace_id
      LEFT JOIN users AS person ON person.id = COALESCE(key.user_id, key.created_by_user_id)
      LEFT JOIN workspace_members AS member
        ON member.workspace_id = key.workspace_id AND member.user_id = person.id
    WHERE secret.hash = ${bytes(hash)}`);
  return rows[0];
}

/** The secret of this hash is known by another from now on, and by the one of before for gateways that hold it. */
export async function rehashSecret(
  db: Database,
  before: Buffer,
  hash: Buffer,
  pepper: string,
): Promise<void> {
  await db.$executeRaw(Prisma.sql`
    UPDATE api_key_secrets SET hash = ${bytes(hash)}, previous_hash = hash, pepper = ${pepper}
    WHERE hash = ${bytes(before)}`);
}
