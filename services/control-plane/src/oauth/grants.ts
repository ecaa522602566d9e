import { createHash } from 'node:crypto';
import { hashServiceKey, mcpGrantSecret } from '@sluice/contracts';
import type { AuditAction } from '@sluice/contracts/admin';
import { systemEntry } from '../kernel/audit/system-entry.ts';
import { type Committed, commitChange } from '../kernel/database/change.ts';
import type { DatabaseClient } from '../kernel/database/client.ts';
import { newId } from '../kernel/names/ids.ts';
import type { Person } from './person.ts';
import type { SigningKeys } from './signing-keys.ts';
import {
  deleteGrant,
  deleteOldGrants,
  findConsent,
  findGrant,
  findGrantByHash,
  insertGrant,
  noteClientUsed,
  rememberConsent,
  updateGrantKeys,
} from './store.ts';

export interface GrantParts {
  client: DatabaseClient;
  pepper: Buffer;
  now: () => Date;
  /** Whether every gateway has what was told before this barrier. */
  whenPassed: (barrier: string) => Promise<boolean>;
}

/** How long somebody stays logged in without being asked again, however often tokens are renewed. */
export const grantMs = 90 * 24 * 3_600_000;
/** Of one secret; the oldest end. */
const grantsMax = 200;

/** What a person let a client do, once or for the next time. */
export interface Consent {
  readonly clientId: string;
  readonly clientName: string;
  readonly resource: string;
  readonly serverId: string;
  readonly redirectUri: string;
  /** With spaces between. */
  readonly scope: string;
}

/** Each is a change of the organisation: it stands in its audit log, and gateways are told before it is answered. */
export class Grants {
  readonly #parts: GrantParts;

  constructor(parts: GrantParts) {
    this.#parts = parts;
  }

  /** @returns the id of the new grant */
  async make(person: Person, consent: Consent, clientIp: string): Promise<string> {
    const { client, pepper, now } = this.#parts;
    const id = newId();
    const createdAt = now();
    await commitChange(
      client,
      this.#entryOf(person, clientIp),
      async ({ db, describe, touchKey }) => {
        await insertGrant(db, {
          id,
          secretId: person.secretId,
          apiKeyId: person.keyId,
          serverId: consent.serverId,
          clientId: consent.clientId,
          clientName: consent.clientName,
          resource: consent.resource,
          scope: consent.scope,
          hash: hashServiceKey(mcpGrantSecret(id), pepper),
          createdAt,
          expiresAt: endOf(person, createdAt),
        });
        if ((await deleteOldGrants(db, person.secretId, grantsMax)) > 0) touchKey(person.keyId);
        await noteClientUsed(db, consent.clientId, createdAt);
        await rememberConsent(db, {
          userId: person.userId,
          fingerprint: fingerprintOf(consent),
          scope: consent.scope,
          usedAt: createdAt,
        });
        describe({
          resourceId: id,
          workspaceId: person.workspaceId,
          after: {
            client_id: consent.clientId,
            client_name: consent.clientName,
            resource: consent.resource,
            redirect_uri: consent.redirectUri,
            scope: consent.scope,
          },
        });
      },
      this.#tell(),
    );
    return id;
  }

  /**
   * The same for somebody whom the issuer of a server knows: no page asked them, their organisation did. Gateways find them by
   * `hash`, and whoever comes a second time has the grant of before.
   */
  async enter(
    person: Person,
    entered: Pick<Consent, 'clientId' | 'resource' | 'serverId' | 'scope'> & { issuer: string },
    hash: Buffer,
    clientIp: string,
  ): Promise<void> {
    const { client, now } = this.#parts;
    const createdAt = now();
    const held = await findGrantByHash(client, hash);
    if (held !== undefined && held.expiresAt > createdAt) return;
    const { issuer, ...of } = entered;
    const told: Committed[] = [];
    await commitChange(
      client,
      this.#entryOf(person, clientIp),
      async ({ db, describe, touchKey }) => {
        // Of two at once the second finds that of the first.
        const before = await findGrantByHash(db, hash);
        if (before !== undefined) await deleteGrant(db, before.id);
        const id = newId();
        await insertGrant(db, {
          ...of,
          id,
          secretId: person.secretId,
          apiKeyId: person.keyId,
          clientName: entered.clientId,
          hash,
          createdAt,
          expiresAt: endOf(person, createdAt),
        });
        await deleteOldGrants(db, person.secretId, grantsMax);
        touchKey(person.keyId);
        const { clientId: client_id, resource, scope } = entered;
        describe({
          resourceId: id,
          workspaceId: person.workspaceId,
          after: { issuer, client_id, resource, scope },
        });
      },
      (committed) => told.push(committed),
    );
    await Promise.all(told.map(({ barrier }) => this.#parts.whenPassed(barrier)));
  }

  /** Nothing when there is none. */
  async end(id: string, reason: string): Promise<void> {
    const grant = await findGrant(this.#parts.client, id);
    if (grant === undefined) return;
    const told: Committed[] = [];
    await commitChange(
      this.#parts.client,
      { ...this.#entry(grant.organisationId, 'DELETE', 'delete'), userId: grant.userId },
      async ({ db, describe, touchKey }) => {
        if (await deleteGrant(db, id)) touchKey(grant.apiKeyId);
        describe({
          resourceId: id,
          ...(grant.workspaceId === null ? {} : { workspaceId: grant.workspaceId }),
          before: { client_id: grant.clientId, resource: grant.resource, scope: grant.scope },
          detail: { reason },
        });
      },
      (committed) => told.push(committed),
    );
    await Promise.all(told.map(({ barrier }) => this.#parts.whenPassed(barrier)));
  }

  /** Before a token is sent: gateways that hold the grant learn of the key that it is signed with. */
  async useKey(id: string, { id: signingKeyId }: SigningKeys): Promise<void> {
    const { client, pepper } = this.#parts;
    const grant = await findGrant(client, id);
    if (grant === undefined) return;
    const hash = hashServiceKey(mcpGrantSecret(id), pepper);
    if (grant.signingKeyId === signingKeyId && hash.equals(Buffer.from(grant.hash))) return;
    // Nobody holds one that had no token yet.
    if (grant.signingKeyId === null) return updateGrantKeys(client, id, { hash, signingKeyId });
    const told: Committed[] = [];
    await commitChange(
      client,
      this.#entry(grant.organisationId, 'PUT', 'update'),
      async ({ db, describe, touchKey }) => {
        await updateGrantKeys(db, id, { hash, signingKeyId });
        touchKey(grant.apiKeyId);
        describe({ resourceId: id, detail: { signing_key_id: signingKeyId } });
      },
      (committed) => told.push(committed),
    );
    await Promise.all(told.map(({ barrier }) => this.#parts.whenPassed(barrier)));
  }

  /** Whether this person let this client have these scopes before, of the same server and to be answered at the same address. */
  async isRemembered(person: Person, consent: Omit<Consent, 'clientName' | 'serverId'>) {
    const scope = await findConsent(this.#parts.client, person.userId, fingerprintOf(consent));
    if (scope === undefined) return false;
    const given = new Set(scope.split(' '));
    return consent.scope.split(' ').every((each) => given.has(each));
  }

  #tell() {
    return ({ barrier }: Committed) => void this.#parts.whenPassed(barrier);
  }

  #entryOf(person: Person, clientIp: string) {
    return {
      ...this.#entry(person.organisationId, 'POST', 'create'),
      userId: person.userId,
      userType: 'user' as const,
      apiKeyId: person.keyId,
      clientIp,
    };
  }

  #entry(organisationId: string, method: 'POST' | 'PUT' | 'DELETE', action: AuditAction) {
    return systemEntry({
      organisationId,
      timestamp: this.#parts.now(),
      method,
      uri: '/oauth',
      resourceType: 'mcp_grants',
      action,
    });
  }
}

/** No grant outlives the key. */
function endOf({ endsAtMs }: Person, createdAt: Date): Date {
  return new Date(Math.min(createdAt.getTime() + grantMs, endsAtMs ?? Number.POSITIVE_INFINITY));
}

function fingerprintOf({
  clientId,
  resource,
  redirectUri,
}: Pick<Consent, 'clientId' | 'resource' | 'redirectUri'>): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([clientId, resource, redirectUri]))
    .digest();
}
