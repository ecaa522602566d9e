import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { AuditAction } from '@sluice/contracts/admin';
import type { GuardedFetch } from '@sluice/outbound';
import type { Logger } from '@sluice/telemetry';
import * as oauth from 'oauth4webapi';
import { systemEntry } from '../../kernel/audit/system-entry.ts';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import { type Committed, commitChange } from '../../kernel/database/change.ts';
import type { Database, DatabaseClient } from '../../kernel/database/client.ts';
import { SignInFault } from '../registry/sign-in-fault.ts';
import { Asker } from './asker.ts';
import { type Calling, callingOf } from './calling.ts';
import {
  type ConnectionColumns,
  type ConnectionId,
  type ConnectionRow,
  emptyConnection,
  findConnection,
  listConnected,
  markKeys,
  noteWantedScope,
  putConnection,
  renewConnection,
  type SignedInServer,
  takeConnectionLock,
} from './connections-store.ts';
import type { HeldToken } from './integration-tokens.ts';
import { readTokenAnswer, renewsAfterMs, signInFault, type TokenAnswer } from './token-answer.ts';
import { Turns } from './turns.ts';
import { clientAuth, type UpstreamClient, type UpstreamClients } from './upstream-client.ts';

/** Where a user's tokens come from, and by whom they were asked for: what renews and revokes them. */
export interface TokenSource {
  readonly as: Pick<oauth.AuthorizationServer, 'issuer' | 'token_endpoint' | 'revocation_endpoint'>;
  readonly client: UpstreamClient;
  /** RFC 8707; null = it is not sent. */
  readonly resource: string | null;
  readonly redirectUri: string;
}

/** What is sealed of a sign-in. */
interface Sealed extends TokenSource {
  readonly accessToken: string;
  readonly refreshToken: string | null;
}

export interface UserConnectionsParts {
  readonly client: DatabaseClient;
  readonly vault: CredentialVault;
  readonly fetch: GuardedFetch;
  readonly clients: UpstreamClients;
  /** Whether every gateway has what was told before this barrier. */
  readonly whenPassed: (barrier: string) => Promise<boolean>;
  readonly now: () => Date;
  readonly logger: Logger;
}

/** Who signed in, for the audit log. */
export interface SignedIn {
  readonly keyId: string;
  readonly clientIp: string;
}

/** What a server wants besides what it was shown. */
export interface Refusal {
  /** SHA-256 of the token. */
  readonly sha256: Buffer;
  /** Scopes, with spaces between; empty = it did not take the token at all. */
  readonly wantedScope: string;
}

/** The user has to sign in, or to sign in anew. */
export const signInRequired = 'sign_in_required';

const table = 'mcp_connections';
const renewMs = 10_000;
const waitMs = 15_000;
const lookAgainMs = 100;
const revokeMs = 3_000;
/** With a server, or an integration. */
const revokedMax = 1_000;
const revokedAtOnce = 8;
const revokeAllMs = 10_000;
/** Renewals hold a connection to the database while they last. */
const turns = { atOnce: 4, ofGroup: 2, waitMs };
/** Of a token whose server does not say: until it is refused. */
const lastsUnsaidMs = 365 * 24 * 3_600_000;
const lastsMaxMs = lastsUnsaidMs;
const wantedLengthMax = 2_000;

/**
 * Tokens of users at MCP servers where each signs in (`oauth_auto`): of one user, at one server of one workspace, and never for anybody
 * else. Of all replicas one renews a token at a time; the others find what it got.
 */
export class UserConnections {
  readonly #parts: UserConnectionsParts;
  readonly #renewing = new Map<string, Promise<HeldToken>>();
  readonly #turns = new Turns(turns);

  constructor(parts: UserConnectionsParts) {
    this.#parts = parts;
  }

  /** @throws SignInFault `sign_in_required`, or why it could not be renewed */
  async tokenOf(server: SignedInServer, userId: string, refusal?: Refusal): Promise<HeldToken> {
    const { client, vault, logger } = this.#parts;
    const id = { serverId: server.id, userId };
    const calling = callingOf(vault, server.integration, 'oauth_auto');
    const row = await findConnection(client, id);
    const kept = this.#open(id, calling, row);
    if (row === undefined || kept === undefined) throw signInNeeded();
    const isRefused = refusal?.sha256.equals(sha256(kept.sealed.accessToken)) === true;
    if (isRefused && refusal.wantedScope !== '') {
      await this.#widen(id, row, refusal.wantedScope);
      throw signInNeeded();
    }
    if (!isRefused && kept.isFresh) return kept.held;
    const key = `${id.serverId} ${userId}`;
    let renewing = this.#renewing.get(key);
    if (renewing === undefined) {
      renewing = this.#turns
        .take(calling.id, () => this.#renew(id, server, calling, isRefused ? row : undefined))
        .finally(() => this.#renewing.delete(key));
      this.#renewing.set(key, renewing);
    }
    try {
      return await renewing;
    } catch (error) {
      if (!(error instanceof SignInFault)) throw error;
      if (error.code === signInRequired) throw error;
      logger.warn(
        { server_id: server.id, user_id: userId, err: error },
        "a user's token for an MCP server could not be renewed",
      );
      // What still works is worth more than the reason why it will not be renewed.
      if (isRefused || !kept.isUsable) throw error;
      return { ...kept.held, renewsAt: new Date(this.#parts.now().getTime() + 5_000) };
    }
  }

  /** What scopes to ask for beside those that the server names: what there is, and what was wanted since. */
  async furtherScopes(id: ConnectionId): Promise<string[]> {
    const row = await findConnection(this.#parts.client, id);
    if (row?.wantedScope == null) return [];
    return [...new Set(scopesIn(`${row.scope ?? ''} ${row.wantedScope}`))];
  }

  async isSignedIn(server: SignedInServer, userId: string): Promise<boolean> {
    const id = { serverId: server.id, userId };
    const calling = callingOf(this.#parts.vault, server.integration, 'oauth_auto');
    const row = await findConnection(this.#parts.client, id);
    return row?.wantedScope == null && this.#open(id, calling, row) !== undefined;
  }

  /** Keeps what a user signed in for, and waits until gateways know that there is something new. */
  async connect(
    server: SignedInServer,
    userId: string,
    calling: Calling,
    source: TokenSource,
    answer: TokenAnswer,
    scope: string | undefined,
    { keyId, clientIp }: SignedIn,
  ): Promise<void> {
    const id = { serverId: server.id, userId };
    const now = this.#parts.now();
    const columns = this.#columns(id, calling, source, answer, {
      refreshToken: undefined,
      scope: scope ?? null,
    });
    await this.#change(
      {
        ...this.#entry(server, 'POST', 'create'),
        userId,
        userType: 'user' as const,
        apiKeyId: keyId,
        clientIp,
      },
      server,
      userId,
      async (db) => {
        await putConnection(db, id, columns, now);
        return {
          after: {
            server: server.slug,
            user_id: userId,
            issuer: source.as.issuer,
            client_id: source.client.id,
            scope: columns.scope,
          },
        };
      },
    );
  }

  /** What a user is about to lose: to be revoked when it is lost. */
  async revocable(
    server: { readonly id: string; readonly integration: { readonly url: string } },
    userId: string,
  ): Promise<() => Promise<void>> {
    const id = { serverId: server.id, userId };
    const row = await findConnection(this.#parts.client, id);
    if (row?.sealedTokens == null) return async () => {};
    try {
      const sealed = this.#unseal(id, row.sealedTokens);
      return () => this.#revoke(server.integration.url, sealed);
    } catch (err) {
      // What nobody can open is lost all the same.
      this.#parts.logger.warn({ err, server_id: id.serverId }, 'a sign-in cannot be opened');
      return async () => {};
    }
  }

  /**
   * What all users are about to lose with a server, or with all servers of an integration. It is bounded: of an integration with more
   * sign-ins, or a server that does not answer, some end when they expire.
   */
  async revocableOfAll(
    integration: { readonly id: string; readonly url: string },
    serverId?: string,
  ): Promise<() => Promise<void>> {
    const { client, logger } = this.#parts;
    const rows = await listConnected(client, integration.id, serverId, revokedMax);
    const revokers: (() => Promise<void>)[] = [];
    for (const { serverId: id, userId } of rows)
      revokers.push(await this.revocable({ id, integration }, userId));
    return async () => {
      const endsAt = performance.now() + revokeAllMs;
      const next = revokers.values();
      const work = async () => {
        for (const revoke of next) if (performance.now() < endsAt) await revoke();
      };
      await Promise.all(Array.from({ length: revokedAtOnce }, work));
      if (performance.now() >= endsAt || rows.length === revokedMax)
        logger.warn(
          { integration_id: integration.id },
          'not all tokens of users could be revoked at the authorisation server',
        );
    };
  }

  /** At the server that gave it, where that has a place for it; whether it could is nobody's fault here. */
  async #revoke(url: string, { as, client, ...tokens }: Sealed): Promise<void> {
    if (as.revocation_endpoint === undefined) return;
    const { fetch, logger } = this.#parts;
    const asker = new Asker({ fetch, server: new URL(url), timeoutMs: revokeMs });
    const token = tokens.refreshToken ?? tokens.accessToken;
    try {
      const response = await oauth.revocationRequest(
        as,
        { client_id: client.id },
        clientAuth(client),
        token,
        asker.options,
      );
      await oauth.processRevocationResponse(response);
    } catch (error) {
      logger.warn(
        { err: signInFault(error) },
        "a user's token could not be revoked at its authorisation server",
      );
    }
  }

  /** @throws SignInFault where the token has what is wanted: another sign-in would change nothing */
  async #widen(id: ConnectionId, { scope, wantedScope }: ConnectionRow, wanted: string) {
    const held = new Set(scopesIn(scope ?? ''));
    const missing = scopesIn(wanted).filter((each) => !held.has(each));
    if (missing.length === 0)
      throw new SignInFault(
        'insufficient_scope',
        'The MCP server wants scopes that the token of this user has.',
      );
    const all = [...new Set([...scopesIn(wantedScope ?? ''), ...missing])].join(' ');
    if (all === wantedScope || all.length > wantedLengthMax) return;
    await noteWantedScope(this.#parts.client, id, all);
  }

  async #renew(
    id: ConnectionId,
    server: SignedInServer,
    calling: Calling,
    refused: ConnectionRow | undefined,
  ): Promise<HeldToken> {
    const endsAt = performance.now() + waitMs;
    while (performance.now() < endsAt) {
      const outcome = await this.#renewIfFree(id, calling, refused);
      if (outcome === undefined) {
        await delay(lookAgainMs);
        continue;
      }
      if ('token' in outcome) return outcome;
      if (outcome.ended !== undefined) await this.#end(id, server, calling, outcome);
      throw outcome.fault;
    }
    throw new SignInFault('timeout', 'The authorisation server did not answer in time.');
  }

  /** Undefined = another replica renews it. @param refused what was held when the server refused it */
  #renewIfFree(
    id: ConnectionId,
    calling: Calling,
    refused: ConnectionRow | undefined,
  ): Promise<HeldToken | Failed | undefined> {
    const { client, now } = this.#parts;
    return client.$transaction(
      async (db) => {
        if (!(await takeConnectionLock(db, id))) return undefined;
        const row = await findConnection(db, id);
        const kept = this.#open(id, calling, row);
        if (row?.sealedTokens == null || kept === undefined) return { fault: signInNeeded() };
        const isRefused = refused?.updatedAt.getTime() === row.updatedAt.getTime();
        if (kept.isFresh && !isRefused) return kept.held;
        const { sealed } = kept;
        if (sealed.refreshToken === null) {
          if (kept.isUsable && !isRefused) return kept.held;
          const ended = row;
          return { fault: signInNeeded(), ended, sealed, reason: 'it cannot be renewed' };
        }
        try {
          const answer = await this.#askAnew(calling, sealed, sealed.refreshToken);
          const columns = this.#columns(id, calling, sealed, answer, {
            refreshToken: sealed.refreshToken,
            scope: row.scope,
          });
          if (!(await renewConnection(db, id, row, columns, now())))
            return { fault: signInNeeded() };
          return {
            token: answer.token,
            renewsAt: columns.renewsAt,
            expiresAt: columns.expiresAt,
          };
        } catch (error) {
          const fault = signInFault(error);
          if (!(fault instanceof SignInFault)) throw error;
          if (!endingCodes.has(fault.code)) return { fault };
          const ended = row;
          return { fault: signInNeeded(), ended, sealed, reason: fault.code };
        }
      },
      { timeout: renewMs + 5_000, maxWait: 5_000 },
    );
  }

  async #askAnew(
    { url }: Calling,
    { as, client, resource }: Sealed,
    refreshToken: string,
  ): Promise<TokenAnswer> {
    const { fetch } = this.#parts;
    const asker = new Asker({ fetch, server: new URL(url), timeoutMs: renewMs });
    const known = { client_id: client.id };
    const response = await oauth.refreshTokenGrantRequest(
      as,
      known,
      clientAuth(client),
      refreshToken,
      {
        ...asker.options,
        ...(resource === null ? {} : { additionalParameters: { resource } }),
      },
    );
    return readTokenAnswer(await oauth.processRefreshTokenResponse(as, known, response));
  }

  /** The user's sign-in has ended, at the server that it was at. */
  async #end(id: ConnectionId, server: SignedInServer, calling: Calling, failed: Failed) {
    const { ended, sealed, reason } = failed;
    if (ended === undefined || sealed === undefined) return;
    if (reason === 'invalid_client' && sealed.client.isRegistered)
      await this.#parts.clients.forget(calling, sealed.as.issuer, sealed);
    const now = this.#parts.now();
    await this.#change(this.#entry(server, 'DELETE', 'delete'), server, id.userId, async (db) => {
      await emptyConnection(db, id, ended, now);
      return { detail: { server: server.slug, user_id: id.userId, reason } };
    });
  }

  async #change(
    entry: Parameters<typeof commitChange>[1],
    server: SignedInServer,
    userId: string,
    work: (db: Database) => Promise<{ after?: object; detail?: Record<string, unknown> }>,
  ): Promise<void> {
    const { client, whenPassed } = this.#parts;
    const told: Committed[] = [];
    await commitChange(
      client,
      entry,
      async ({ db, describe, touchKey }) => {
        const facts = await work(db);
        const { workspaceId } = server;
        for (const key of await markKeys(db, { workspaceId, userId })) touchKey(key);
        describe({ resourceId: server.id, workspaceId, ...facts });
      },
      (committed) => told.push(committed),
    );
    await Promise.all(told.map(({ barrier }) => whenPassed(barrier)));
  }

  #entry({ organisationId }: SignedInServer, method: 'POST' | 'DELETE', action: AuditAction) {
    return systemEntry({
      organisationId,
      timestamp: this.#parts.now(),
      method,
      uri: '/oauth/upstream-callback',
      resourceType: 'mcp_connections',
      action,
    });
  }

  #columns(
    id: ConnectionId,
    { fingerprint }: Calling,
    { as, client, resource, redirectUri }: TokenSource,
    answer: TokenAnswer,
    before: { refreshToken: string | undefined; scope: string | null },
  ): ConnectionColumns {
    const atMs = this.#parts.now().getTime();
    const lastsMs = Math.min(answer.lastsMs ?? lastsUnsaidMs, lastsMaxMs);
    const { issuer, token_endpoint, revocation_endpoint } = as;
    // Who does not rotate it means the one of before.
    const refreshToken = answer.refreshToken ?? before.refreshToken ?? null;
    const sealed: Sealed = {
      as: {
        issuer,
        ...(token_endpoint !== undefined && { token_endpoint }),
        ...(revocation_endpoint !== undefined && { revocation_endpoint }),
      },
      client,
      resource,
      redirectUri,
      accessToken: answer.token,
      refreshToken,
    };
    return {
      sealedTokens: this.#parts.vault.seal(JSON.stringify(sealed), addressOf(id)),
      fingerprint,
      renewsAt: new Date(atMs + (refreshToken === null ? lastsMs : renewsAfterMs(lastsMs))),
      expiresAt: new Date(atMs + lastsMs),
      scope: answer.scope ?? before.scope,
    };
  }

  /** Undefined = there is nothing, or it is of other settings. */
  #open(id: ConnectionId, { fingerprint }: Calling, row: ConnectionRow | undefined) {
    if (row?.sealedTokens == null || row.expiresAt === null || row.renewsAt === null)
      return undefined;
    if (row.fingerprint === null || !fingerprint.equals(row.fingerprint)) return undefined;
    const now = this.#parts.now();
    const { expiresAt, renewsAt } = row;
    const sealed = this.#unseal(id, row.sealedTokens);
    return {
      sealed,
      held: { token: sealed.accessToken, expiresAt, renewsAt },
      isFresh: renewsAt > now,
      isUsable: expiresAt > now,
    };
  }

  #unseal(id: ConnectionId, sealed: Uint8Array): Sealed {
    return JSON.parse(this.#parts.vault.open(Buffer.from(sealed), addressOf(id))) as Sealed;
  }
}

/** Why nothing was renewed; with what has ended by it. */
interface Failed {
  readonly fault: SignInFault;
  readonly ended?: ConnectionRow;
  readonly sealed?: Sealed;
  readonly reason?: string;
}

/** After these the same refresh token is worth nothing. */
const endingCodes: ReadonlySet<string> = new Set([
  'invalid_grant',
  'invalid_client',
  'unauthorized_client',
  'invalid_target',
  'invalid_scope',
]);

function signInNeeded(): SignInFault {
  return new SignInFault(signInRequired, 'The user has to sign in at the MCP server.');
}

export function scopesIn(text: string): string[] {
  return text.split(' ').filter((each) => each !== '');
}

function addressOf({ serverId, userId }: ConnectionId) {
  return { table, id: `${serverId}/${userId}` };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
