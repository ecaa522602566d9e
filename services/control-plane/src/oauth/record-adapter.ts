import { createHash } from 'node:crypto';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { errors } from 'oidc-provider';
import type { CredentialVault } from '../kernel/credentials/envelope.ts';
import type { DatabaseClient } from '../kernel/database/client.ts';
import { isUuid } from '../kernel/names/ids.ts';
import { isOwnClientId } from './client-metadata.ts';
import {
  consumeRecord,
  deleteRecord,
  findClient,
  findGrant,
  findRecord,
  findRecordByUid,
  insertClient,
  type RecordRow,
  upsertRecord,
} from './store.ts';

export interface AdapterParts {
  client: DatabaseClient;
  vault: CredentialVault;
  now: () => Date;
  /** Ends a grant and all that came of it, and waits until gateways know. */
  endGrant: (id: string, reason: string) => Promise<void>;
}

/** Clients that nobody has let in yet, all together; one whose page may be open just now is not pushed out. */
const clientRoom = { unusedMax: 10_000, graceMs: 15 * 60_000 };

const recordsTable = 'oauth_records';
const clientsTable = 'oauth_clients';

/** What the library keeps, in Postgres: sealed, and by the hash of what is sent, so that a copy of the table opens nothing. */
export function createAdapter(parts: AdapterParts): (model: string) => Adapter {
  return (model) => {
    if (model === 'Client') return clientAdapter(parts);
    if (model === 'Grant') return grantAdapter(parts);
    return recordAdapter(model, parts);
  };
}

function recordAdapter(model: string, { client, vault, now, endGrant }: AdapterParts): Adapter {
  const nameOf = (id: string) => ({ model, idHash: hashOf(id) });
  const open = (row: RecordRow): AdapterPayload => ({
    ...(JSON.parse(
      vault.open(Buffer.from(row.sealedPayload), addressOf(model, Buffer.from(row.idHash))),
    ) as AdapterPayload),
    ...(row.consumedAt === null ? {} : { consumed: Math.floor(row.consumedAt.getTime() / 1000) }),
  });
  return {
    async upsert(id, payload, expiresIn) {
      const name = nameOf(id);
      // Said by its column.
      const { consumed: _, ...rest } = payload;
      const written = await upsertRecord(client, name, {
        grantId: typeof payload.grantId === 'string' ? payload.grantId : null,
        uidHash: typeof payload.uid === 'string' ? hashOf(payload.uid) : null,
        sealedPayload: vault.seal(JSON.stringify(rest), addressOf(model, name.idHash)),
        expiresAt: new Date(now().getTime() + (expiresIn ?? 0) * 1000),
      });
      // Revoked while the answer was made.
      if (!written) throw new errors.InvalidGrant('grant not found');
    },
    async find(id) {
      const row = await findRecord(client, nameOf(id), now());
      return row && open(row);
    },
    async findByUid(uid) {
      const row = await findRecordByUid(client, model, hashOf(uid), now());
      return row && open(row);
    },
    async findByUserCode() {
      return undefined;
    },
    async consume(id) {
      if (await consumeRecord(client, nameOf(id), now())) return;
      // Sent twice at once: whoever was second ends it for both, as if it had come later.
      const row = await findRecord(client, nameOf(id), now());
      const { grantId } = row === undefined ? {} : open(row);
      if (typeof grantId === 'string') await endGrant(grantId, `${model} was sent twice`);
      throw new errors.InvalidGrant(`${model} already used`);
    },
    async destroy(id) {
      await deleteRecord(client, nameOf(id));
    },
    async revokeByGrantId(grantId) {
      await endGrant(grantId, 'revoked');
    },
  };
}

function addressOf(model: string, idHash: Buffer) {
  return { table: recordsTable, id: `${model}/\\x${idHash.toString('hex')}` };
}

function hashOf(id: string): Buffer {
  return createHash('sha256').update(id).digest();
}

/** Grants are made by the page of consent: here they are only looked up, and end. */
function grantAdapter({ client, now, endGrant }: AdapterParts): Adapter {
  return {
    ...nothing,
    async upsert() {
      throw new Error('a grant is made by consent only');
    },
    async find(id) {
      const row = isUuid(id) ? await findGrant(client, id) : undefined;
      if (row === undefined || row.expiresAt <= now()) return undefined;
      return {
        kind: 'Grant',
        jti: row.id,
        iat: Math.floor(row.createdAt.getTime() / 1000),
        exp: Math.floor(row.expiresAt.getTime() / 1000),
        accountId: row.secretId,
        clientId: row.clientId,
        resources: { [row.resource]: row.scope },
      };
    },
    async destroy(id) {
      if (isUuid(id)) await endGrant(id, 'revoked');
    },
  };
}

function clientAdapter({ client, vault, now }: AdapterParts): Adapter {
  return {
    ...nothing,
    async upsert(id, payload) {
      const sealedMetadata = vault.seal(JSON.stringify(payload), { table: clientsTable, id });
      const stored = await insertClient(
        client,
        { id, sealedMetadata, createdAt: now() },
        clientRoom,
      );
      if (!stored)
        throw Object.assign(
          new errors.CustomOIDCProviderError(
            'temporarily_unavailable',
            'too many clients have registered lately',
          ),
          { status: 503, statusCode: 503 },
        );
    },
    async find(id) {
      // What is none of ours is not asked for: it may be anything, and no text that Postgres takes.
      if (!isOwnClientId(id)) return undefined;
      const sealed = await findClient(client, id);
      if (sealed === undefined) return undefined;
      return JSON.parse(
        vault.open(Buffer.from(sealed), { table: clientsTable, id }),
      ) as AdapterPayload;
    },
  };
}

const nothing: Adapter = {
  async upsert() {},
  async find() {
    return undefined;
  },
  async findByUid() {
    return undefined;
  },
  async findByUserCode() {
    return undefined;
  },
  async consume() {},
  async destroy() {},
  async revokeByGrantId() {},
};
