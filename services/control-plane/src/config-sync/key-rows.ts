import { Prisma } from '../generated/prisma/client.ts';
import { bytes } from '../kernel/database/change.ts';
import type { Database } from '../kernel/database/client.ts';

/** A secret with its key, and what of others decides what the key may do. */
export interface KeyRow {
  hash: Uint8Array;
  /** Under the pepper of before. */
  previousHash: Uint8Array | null;
  secretExpiresAt: Date | null;
  id: string;
  name: string;
  slug: string;
  type: string;
  organisationId: string;
  workspaceId: string | null;
  workspaceSlug: string | null;
  userId: string | null;
  signInMark: string | null;
  scopes: string[];
  expiresAt: Date | null;
  suspendedAt: Date | null;
  metadata: Record<string, string>;
  configSlug: string | null;
  allowConfigOverride: boolean;
  /** As they are kept. */
  rateLimits: unknown;
  usageLimits: unknown;
  organisationSettings: unknown;
  workspaceSettings: unknown;
  userRole: string | null;
  memberRole: string | null;
  /** Set where the hash is that of a grant of it to a client of MCP. */
  grantId: string | null;
  clientId: string | null;
  resource: string | null;
  serverId: string | null;
  scope: string | null;
  /** JWKs that tokens of the grant may be signed with. */
  publicJwks: unknown;
}

/**
 * Those of these hashes that somebody has, but for keys of archived workspaces. One
 * statement: gateways ask for many keys within moments when they come back.
 */
export function readKeyRows(db: Database, hashes: readonly Buffer[]): Promise<KeyRow[]> {
  const asked = Prisma.sql`${hashes.map(bytes)}::bytea[]`;
  return keyRowsWhere(
    db,
    Prisma.sql`SELECT hash, previous_hash, expires_at, api_key_id, NULL::uuid AS grant_id FROM api_key_secrets
        WHERE hash = ANY(${asked}) OR previous_hash = ANY(${asked})
      UNION ALL SELECT g.hash, NULL, LEAST(g.expires_at, s.expires_at), s.api_key_id, g.id
        FROM oauth_grants g JOIN api_key_secrets s ON s.id = g.secret_id WHERE g.hash = ANY(${asked})
      UNION ALL SELECT key_hash, NULL, NULL, api_key_id, NULL FROM batches
        WHERE key_hash = ANY(${asked}) AND status IN ('validating', 'in_progress', 'finalizing', 'cancelling')`,
  );
}

/** A key by its id, with the secret that works longest. */
export async function findKeyRow(db: Database, id: string): Promise<KeyRow | undefined> {
  const rows = await keyRowsWhere(
    db,
    Prisma.sql`SELECT hash, previous_hash, expires_at, api_key_id, NULL::uuid AS grant_id FROM api_key_secrets
      WHERE api_key_id = ${id}::uuid`,
  );
  return rows.reduce<KeyRow | undefined>(
    (best, row) => (best === undefined || endOf(row) > endOf(best) ? row : best),
    undefined,
  );
}

function endOf({ secretExpiresAt }: KeyRow): number {
  return secretExpiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
}

/** @param secrets  of keys, and of grants and batches of them: what is asked by, until when it works, whose it is */
function keyRowsWhere(db: Database, secrets: Prisma.Sql): Promise<KeyRow[]> {
  return db.$queryRaw<KeyRow[]>(
    Prisma.sql`SELECT s.hash, s.previous_hash AS "previousHash", s.expires_at AS "secretExpiresAt", k.id::text, k.name, k.slug, k.type,
        k.organisation_id::text AS "organisationId", k.workspace_id::text AS "workspaceId", w.slug AS "workspaceSlug",
        k.user_id::text AS "userId", k.sign_in_mark::text AS "signInMark", k.scopes, k.expires_at AS "expiresAt", k.suspended_at AS "suspendedAt", k.metadata, c.slug AS "configSlug",
        k.allow_config_override AS "allowConfigOverride", k.rate_limits AS "rateLimits", k.usage_limits AS "usageLimits",
        o.settings AS "organisationSettings", w.settings AS "workspaceSettings", u.role AS "userRole", m.role AS "memberRole",
        g.id::text AS "grantId", g.client_id AS "clientId", g.resource, g.server_id::text AS "serverId", g.scope,
        CASE WHEN g.id IS NOT NULL THEN (SELECT jsonb_agg(public_jwk ORDER BY id) FROM oauth_signing_keys) END AS "publicJwks"
      FROM (${secrets}) s
      JOIN api_keys k ON k.id = s.api_key_id
      JOIN organisations o ON o.id = k.organisation_id
      LEFT JOIN workspaces w ON w.id = k.workspace_id
      LEFT JOIN configs c ON c.id = k.config_id
      LEFT JOIN users u ON u.id = k.user_id
      LEFT JOIN workspace_members m ON m.user_id = k.user_id AND m.workspace_id = k.workspace_id
      LEFT JOIN oauth_grants g ON g.id = s.grant_id
      WHERE w.status IS DISTINCT FROM 'archived'`,
  );
}

/** Those by which gateways may know the key, in hexadecimal. */
export function hashesOf({ hash, previousHash }: KeyRow): string[] {
  return [hash, ...(previousHash === null ? [] : [previousHash])].map((each) =>
    Buffer.from(each).toString('hex'),
  );
}

/** The same by hash, in hexadecimal. */
export async function keyRowsByHash(
  db: Database,
  hashes: readonly string[],
): Promise<Map<string, KeyRow>> {
  const rows = await readKeyRows(
    db,
    hashes.map((hex) => Buffer.from(hex, 'hex')),
  );
  return new Map(rows.flatMap((row) => hashesOf(row).map((hash) => [hash, row] as const)));
}
