import { Prisma } from '../generated/prisma/client.ts';
import { bytes } from '../kernel/database/change.ts';
import type { Database } from '../kernel/database/client.ts';
import { openIntegration } from '../tools/server-directory/store.ts';

/** The secret of a key by which a person logged in, and what decides whether it still lets them. */
export interface LoginRow {
  secretId: string;
  keyId: string;
  type: string;
  scopes: string[];
  keyExpiresAt: Date | null;
  suspendedAt: Date | null;
  secretExpiresAt: Date | null;
  organisationId: string;
  organisationSettings: unknown;
  workspaceId: string | null;
  workspaceSlug: string | null;
  workspaceName: string | null;
  workspaceStatus: string | null;
  workspaceSettings: unknown;
  userId: string | null;
  email: string | null;
  firstName: string | null;
  lastName: string | null;
  userRole: string | null;
  memberRole: string | null;
}

function loginsWhere(db: Database, condition: Prisma.Sql): Promise<LoginRow[]> {
  return db.$queryRaw<LoginRow[]>(Prisma.sql`
    SELECT s.id::text AS "secretId", k.id::text AS "keyId", k.type, k.scopes, k.expires_at AS "keyExpiresAt",
      k.suspended_at AS "suspendedAt", s.expires_at AS "secretExpiresAt",
      o.id::text AS "organisationId", o.settings AS "organisationSettings",
      w.id::text AS "workspaceId", w.slug AS "workspaceSlug", w.name AS "workspaceName", w.status AS "workspaceStatus",
      w.settings AS "workspaceSettings", u.id::text AS "userId", u.email, u.first_name AS "firstName",
      u.last_name AS "lastName", u.role AS "userRole", m.role AS "memberRole"
    FROM api_key_secrets s
      JOIN api_keys k ON k.id = s.api_key_id
      JOIN organisations o ON o.id = k.organisation_id
      LEFT JOIN workspaces w ON w.id = k.workspace_id
      LEFT JOIN users u ON u.id = k.user_id
      LEFT JOIN workspace_members m ON m.workspace_id = k.workspace_id AND m.user_id = k.user_id
    WHERE ${condition}`);
}

export async function findLoginByHash(
  db: Database,
  hashes: readonly Buffer[],
): Promise<LoginRow | undefined> {
  const [row] = await loginsWhere(db, Prisma.sql`s.hash = ANY(${hashes.map(bytes)}::bytea[])`);
  return row;
}

/** Keys of a user in a workspace, the oldest first; of each the secret that works longest. */
export function listLoginsOfUser(
  db: Database,
  { userId, workspaceId }: { userId: string; workspaceId: string },
): Promise<LoginRow[]> {
  return loginsWhere(
    db,
    Prisma.sql`k.user_id = ${userId}::uuid AND k.workspace_id = ${workspaceId}::uuid
      AND k.type = 'workspace-user'
      ORDER BY k.created_at, k.id, s.expires_at DESC NULLS FIRST LIMIT 100`,
  );
}

export async function findLoginBySecret(
  db: Database,
  secretId: string,
): Promise<LoginRow | undefined> {
  const [row] = await loginsWhere(db, Prisma.sql`s.id = ${secretId}::uuid`);
  return row;
}

/** An MCP server of a workspace, and whether it is there for this person. */
export interface ServerRow {
  id: string;
  slug: string;
  name: string;
}

/** Of the integration of a server: who gives its tokens in place of us. */
const issuerOf = Prisma.sql`i.configurations->'external_auth_config'->>'issuer'`;

const reachable = (workspaceId: string, userId: string) => Prisma.sql`
  FROM mcp_servers s
    LEFT JOIN mcp_integrations i ON i.id = s.integration_id
    LEFT JOIN mcp_server_user_access a ON a.server_id = s.id AND a.user_id = ${userId}::uuid
    LEFT JOIN mcp_integration_workspaces g ON g.integration_id = i.id AND g.workspace_id = s.workspace_id
  WHERE s.workspace_id = ${workspaceId}::uuid AND s.status = 'active' AND ${openIntegration} AND ${issuerOf} IS NULL
    AND COALESCE(a.enabled, s.default_user_access = 'allow')`;

export async function findReachableServer(
  db: Database,
  login: { workspaceId: string; userId: string },
  slug: string,
): Promise<ServerRow | undefined> {
  const [row] = await db.$queryRaw<ServerRow[]>(Prisma.sql`
    SELECT s.id::text, s.slug, s.name ${reachable(login.workspaceId, login.userId)} AND s.slug = ${slug}`);
  return row;
}

/** At most `max`, by name. */
export function listReachableServers(
  db: Database,
  login: { workspaceId: string; userId: string },
  max: number,
): Promise<ServerRow[]> {
  return db.$queryRaw<ServerRow[]>(Prisma.sql`
    SELECT s.id::text, s.slug, s.name ${reachable(login.workspaceId, login.userId)}
    ORDER BY s.name, s.id LIMIT ${max}`);
}

/** A server at an address, and who gives tokens for it. */
export interface IssuedServerRow {
  serverId: string;
  workspaceId: string;
  organisationId: string;
  /** Null = we do. */
  issuer: string | null;
  /** What its tokens must have; null = nothing. */
  scope: string | null;
}

function issuedWhere(db: Database, condition: Prisma.Sql): Promise<IssuedServerRow[]> {
  return db.$queryRaw<IssuedServerRow[]>(Prisma.sql`
    SELECT s.id::text AS "serverId", s.workspace_id::text AS "workspaceId", s.organisation_id::text AS "organisationId",
      ${issuerOf} AS issuer, i.configurations->'external_auth_config'->>'scope' AS scope
    FROM mcp_servers s JOIN workspaces w ON w.id = s.workspace_id
      LEFT JOIN mcp_integrations i ON i.id = s.integration_id
    WHERE s.status = 'active' AND w.status <> 'archived' AND ${condition}`);
}

/** An address without a workspace may be of several organisations' servers: at most `max`. */
export function listServersAt(
  db: Database,
  { workspace, server }: { workspace: string | undefined; server: string },
  max: number,
): Promise<IssuedServerRow[]> {
  return issuedWhere(
    db,
    Prisma.sql`s.slug = ${server} AND (${workspace ?? null}::text IS NULL OR w.slug = ${workspace ?? null})
      ORDER BY s.created_at, s.id LIMIT ${max}`,
  );
}

export async function findIssuedServer(
  db: Database,
  id: string,
): Promise<IssuedServerRow | undefined> {
  const [row] = await issuedWhere(db, Prisma.sql`s.id = ${id}::uuid`);
  return row;
}

/** Organisations whose people log in at an OpenID provider: those with a server at the address, or all. */
export function listOpenIdOrganisations(
  db: Database,
  at: { workspace: string | undefined; server: string } | undefined,
  max: number,
): Promise<{ id: string; name: string }[]> {
  const workspace = at?.workspace ?? null;
  const has =
    at === undefined
      ? Prisma.sql`TRUE`
      : Prisma.sql`EXISTS (SELECT FROM mcp_servers s JOIN workspaces w ON w.id = s.workspace_id
          WHERE s.organisation_id = o.id AND s.slug = ${at.server} AND (${workspace}::text IS NULL OR w.slug = ${workspace}))`;
  return db.$queryRaw<{ id: string; name: string }[]>(Prisma.sql`
    SELECT o.id::text, o.name FROM organisations o WHERE o.oidc_settings IS NOT NULL AND ${has}
    ORDER BY o.name, o.id LIMIT ${max}`);
}

/** Workspaces of a user. */
export async function listWorkspacesOfUser(db: Database, userId: string): Promise<string[]> {
  const rows = await db.$queryRaw<{ id: string }[]>(Prisma.sql`
    SELECT DISTINCT workspace_id::text AS id FROM api_keys
    WHERE user_id = ${userId}::uuid AND workspace_id IS NOT NULL AND type = 'workspace-user' ORDER BY id LIMIT 100`);
  return rows.map(({ id }) => id);
}

/** By the e-mail address, whatever its case, or by the id. */
export async function findUserNamed(
  db: Database,
  organisationId: string,
  name: string,
): Promise<string | undefined> {
  const rows = await db.$queryRaw<{ id: string }[]>(Prisma.sql`
    SELECT id::text FROM users WHERE organisation_id = ${organisationId}::uuid
      AND (lower(email) = lower(${name}) OR id::text = lower(${name})) LIMIT 2`);
  // Two that differ in case alone: it is not said who is meant.
  return rows.length === 1 ? rows[0]?.id : undefined;
}

export async function findGrantByHash(
  db: Database,
  hash: Buffer,
): Promise<{ id: string; expiresAt: Date } | undefined> {
  const row = await db.oauthGrant.findUnique({
    where: { hash: bytes(hash) },
    select: { id: true, expiresAt: true },
  });
  return row ?? undefined;
}

export interface NewGrant {
  id: string;
  secretId: string;
  apiKeyId: string;
  serverId: string;
  clientId: string;
  clientName: string;
  resource: string;
  scope: string;
  hash: Buffer;
  createdAt: Date;
  expiresAt: Date;
}

export async function insertGrant(db: Database, grant: NewGrant): Promise<void> {
  await db.oauthGrant.create({ data: { ...grant, hash: bytes(grant.hash) } });
}

export interface GrantRow extends Omit<NewGrant, 'hash'> {
  hash: Uint8Array;
  signingKeyId: string | null;
  organisationId: string;
  workspaceId: string | null;
  userId: string | null;
}

export async function findGrant(db: Database, id: string): Promise<GrantRow | undefined> {
  const [row] = await db.$queryRaw<GrantRow[]>(Prisma.sql`
    SELECT g.id::text, g.secret_id::text AS "secretId", g.api_key_id::text AS "apiKeyId", g.server_id::text AS "serverId",
      g.client_id AS "clientId", g.client_name AS "clientName", g.resource, g.scope, g.hash,
      g.signing_key_id AS "signingKeyId", g.created_at AS "createdAt", g.expires_at AS "expiresAt",
      k.organisation_id::text AS "organisationId", k.workspace_id::text AS "workspaceId", k.user_id::text AS "userId"
    FROM oauth_grants g JOIN api_keys k ON k.id = g.api_key_id WHERE g.id = ${id}::uuid`);
  return row;
}

/** Whether there was one; its codes and refresh tokens go with it. */
export async function deleteGrant(db: Database, id: string): Promise<boolean> {
  const { count } = await db.oauthGrant.deleteMany({ where: { id } });
  return count > 0;
}

/** All of the secret but the newest `keep`. */
export async function deleteOldGrants(
  db: Database,
  secretId: string,
  keep: number,
): Promise<number> {
  return db.$executeRaw(Prisma.sql`
    DELETE FROM oauth_grants WHERE id IN (
      SELECT id FROM oauth_grants WHERE secret_id = ${secretId}::uuid ORDER BY created_at DESC, id OFFSET ${keep})`);
}

/** What gateways ask by, and check signatures with, from now on. */
export async function updateGrantKeys(
  db: Database,
  id: string,
  { hash, signingKeyId }: { hash: Buffer; signingKeyId: string },
): Promise<void> {
  await db.oauthGrant.updateMany({ where: { id }, data: { hash: bytes(hash), signingKeyId } });
}

/** Of codes and the like: by what kind it is and the hash of what is sent. */
export interface RecordName {
  model: string;
  idHash: Buffer;
}

export interface RecordRow {
  idHash: Uint8Array;
  sealedPayload: Uint8Array;
  consumedAt: Date | null;
}

/** `grantId` of a grant that is gone: nothing is written, and false comes back. */
export async function upsertRecord(
  db: Database,
  { model, idHash }: RecordName,
  data: { grantId: string | null; uidHash: Buffer | null; sealedPayload: Buffer; expiresAt: Date },
): Promise<boolean> {
  const written = await db.$executeRaw(Prisma.sql`
    INSERT INTO oauth_records (model, id_hash, grant_id, uid_hash, sealed_payload, expires_at)
    SELECT ${model}, ${bytes(idHash)}, ${data.grantId}::uuid, ${data.uidHash === null ? null : bytes(data.uidHash)},
      ${bytes(data.sealedPayload)}, ${data.expiresAt}
    WHERE ${data.grantId}::uuid IS NULL OR EXISTS (SELECT FROM oauth_grants WHERE id = ${data.grantId}::uuid FOR KEY SHARE)
    ON CONFLICT (model, id_hash) DO UPDATE SET uid_hash = excluded.uid_hash,
      sealed_payload = excluded.sealed_payload, expires_at = excluded.expires_at`);
  return written > 0;
}

export async function findRecord(
  db: Database,
  { model, idHash }: RecordName,
  now: Date,
): Promise<RecordRow | undefined> {
  const [row] = await db.$queryRaw<RecordRow[]>(Prisma.sql`
    SELECT id_hash AS "idHash", sealed_payload AS "sealedPayload", consumed_at AS "consumedAt" FROM oauth_records
    WHERE model = ${model} AND id_hash = ${bytes(idHash)} AND expires_at > ${now}`);
  return row;
}

export async function findRecordByUid(
  db: Database,
  model: string,
  uidHash: Buffer,
  now: Date,
): Promise<RecordRow | undefined> {
  const [row] = await db.$queryRaw<RecordRow[]>(Prisma.sql`
    SELECT id_hash AS "idHash", sealed_payload AS "sealedPayload", consumed_at AS "consumedAt" FROM oauth_records
    WHERE model = ${model} AND uid_hash = ${bytes(uidHash)} AND expires_at > ${now} LIMIT 1`);
  return row;
}

/** Whether this call was the one that used it up: of several at once one is. */
export async function consumeRecord(
  db: Database,
  { model, idHash }: RecordName,
  now: Date,
): Promise<boolean> {
  const consumed = await db.$executeRaw(Prisma.sql`
    UPDATE oauth_records SET consumed_at = ${now}
    WHERE model = ${model} AND id_hash = ${bytes(idHash)} AND consumed_at IS NULL`);
  return consumed > 0;
}

export async function deleteRecord(db: Database, { model, idHash }: RecordName): Promise<void> {
  await db.$executeRaw(
    Prisma.sql`DELETE FROM oauth_records WHERE model = ${model} AND id_hash = ${bytes(idHash)}`,
  );
}

export async function findClient(db: Database, id: string): Promise<Uint8Array | undefined> {
  const row = await db.oauthClient.findUnique({ where: { id }, select: { sealedMetadata: true } });
  return row?.sealedMetadata;
}

/**
 * Whether there was room: of clients that nobody has let in yet there are at most `unusedMax`. When it is full the
 * oldest goes, unless it is younger than `graceMs`: somebody may be reading its page of consent.
 */
export async function insertClient(
  db: Database,
  client: { id: string; sealedMetadata: Buffer; createdAt: Date },
  { unusedMax, graceMs }: { unusedMax: number; graceMs: number },
): Promise<boolean> {
  const written = await db.$executeRaw(Prisma.sql`
    WITH full_up AS (SELECT count(*) >= ${unusedMax} AS is_full FROM oauth_clients WHERE used_at IS NULL),
      gone AS (DELETE FROM oauth_clients WHERE (SELECT is_full FROM full_up) AND id IN (
        SELECT id FROM oauth_clients WHERE used_at IS NULL
          AND created_at < ${new Date(client.createdAt.getTime() - graceMs)}
        ORDER BY created_at LIMIT 100 FOR UPDATE SKIP LOCKED) RETURNING 1)
    INSERT INTO oauth_clients (id, sealed_metadata, created_at)
    SELECT ${client.id}, ${bytes(client.sealedMetadata)}, ${client.createdAt}
    WHERE NOT (SELECT is_full FROM full_up) OR EXISTS (SELECT FROM gone)`);
  return written > 0;
}

export async function noteClientUsed(db: Database, id: string, now: Date): Promise<void> {
  await db.oauthClient.updateMany({ where: { id }, data: { usedAt: now } });
}

export interface SigningKeyRow {
  id: string;
  sealedPrivateKey: Uint8Array | null;
  publicJwk: unknown;
  createdAt: Date;
}

export function listSigningKeys(db: Database): Promise<SigningKeyRow[]> {
  return db.oauthSigningKey.findMany({ orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
}

/** Unless there is one since `unlessSince`: of several replicas one makes it. */
export async function insertSigningKey(
  db: Database,
  key: { id: string; sealedPrivateKey: Buffer | null; publicJwk: object; createdAt: Date },
  unlessSince: Date | undefined,
): Promise<void> {
  const sealed = key.sealedPrivateKey === null ? null : bytes(key.sealedPrivateKey);
  // The condition and the row are of one moment only with the lock.
  await db.$queryRaw(Prisma.sql`SELECT 1 AS held FROM pg_advisory_xact_lock(${signingKeyLock})`);
  await db.$executeRaw(Prisma.sql`
    INSERT INTO oauth_signing_keys (id, sealed_private_key, public_jwk, created_at)
    SELECT ${key.id}, ${sealed}, ${JSON.stringify(key.publicJwk)}::jsonb, ${key.createdAt}
    WHERE ${unlessSince ?? null}::timestamptz IS NULL OR NOT EXISTS (
      SELECT FROM oauth_signing_keys WHERE sealed_private_key IS NOT NULL AND created_at > ${unlessSince ?? null}::timestamptz)
    ON CONFLICT (id) DO NOTHING`);
}

const signingKeyLock = 727_164_040;

export async function deleteSigningKeys(db: Database, ids: readonly string[]): Promise<void> {
  await db.oauthSigningKey.deleteMany({ where: { id: { in: [...ids] } } });
}

/** The scopes that this person let this client have before, the same way. */
export async function findConsent(
  db: Database,
  userId: string,
  fingerprint: Buffer,
): Promise<string | undefined> {
  const row = await db.oauthConsent.findUnique({
    where: { userId_fingerprint: { userId, fingerprint: bytes(fingerprint) } },
    select: { scope: true },
  });
  return row?.scope;
}

export async function rememberConsent(
  db: Database,
  consent: { userId: string; fingerprint: Buffer; scope: string; usedAt: Date },
): Promise<void> {
  const { userId, scope, usedAt } = consent;
  const fingerprint = bytes(consent.fingerprint);
  await db.oauthConsent.upsert({
    where: { userId_fingerprint: { userId, fingerprint } },
    create: { userId, fingerprint, scope, usedAt },
    update: { scope, usedAt },
  });
}

const sweptAtOnce = 2_000;

/** Removes what has ended, a bounded number a run; clients that nobody let in, and consents that nobody used, by their age. */
export async function sweep(
  db: Database,
  now: Date,
  { unusedClientMs, consentMs }: { unusedClientMs: number; consentMs: number },
): Promise<void> {
  await db.$executeRaw(Prisma.sql`
    DELETE FROM oauth_records WHERE (model, id_hash) IN (
      SELECT model, id_hash FROM oauth_records WHERE expires_at < ${now} ORDER BY expires_at LIMIT ${sweptAtOnce} FOR UPDATE SKIP LOCKED)`);
  await db.$executeRaw(Prisma.sql`
    DELETE FROM oauth_grants WHERE id IN (
      SELECT id FROM oauth_grants WHERE expires_at < ${now} ORDER BY expires_at LIMIT ${sweptAtOnce} FOR UPDATE SKIP LOCKED)`);
  await db.$executeRaw(Prisma.sql`
    DELETE FROM oauth_clients WHERE id IN (
      SELECT id FROM oauth_clients WHERE used_at IS NULL AND created_at < ${new Date(now.getTime() - unusedClientMs)}
      ORDER BY created_at LIMIT ${sweptAtOnce} FOR UPDATE SKIP LOCKED)`);
  await db.$executeRaw(Prisma.sql`
    DELETE FROM oauth_consents WHERE (user_id, fingerprint) IN (
      SELECT user_id, fingerprint FROM oauth_consents WHERE used_at < ${new Date(now.getTime() - consentMs)}
      ORDER BY used_at LIMIT ${sweptAtOnce} FOR UPDATE SKIP LOCKED)`);
}
