import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { checkUpstreamUrl, type GuardedFetch, type HostRules } from '@sluice/outbound';
import * as oauth from 'oauth4webapi';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import type { DatabaseClient } from '../../kernel/database/client.ts';
import { SignInFault } from '../registry/sign-in-fault.ts';
import { Asker } from './asker.ts';
import { callingOf } from './calling.ts';
import { findServer, type SignedInServer } from './connections-store.ts';
import {
  type Authorization,
  discoverAuthorization,
  type GivenMetadata,
} from './discover-authorization.ts';
import { findSignIn, insertSignIn, useSignIn } from './sign-ins-store.ts';
import { readTokenAnswer, signInFault } from './token-answer.ts';
import { clientAuth, type OwnAddresses, type UpstreamClients } from './upstream-client.ts';
import {
  type SignedIn,
  scopesIn,
  type TokenSource,
  type UserConnections,
} from './user-connections.ts';

export interface SignInsParts {
  readonly client: DatabaseClient;
  readonly vault: CredentialVault;
  readonly fetch: GuardedFetch;
  readonly hostRules: HostRules;
  readonly clients: UpstreamClients;
  readonly connections: UserConnections;
  readonly now: () => Date;
}

/** Who signs in, in which browser. */
export interface SigningIn {
  readonly serverId: string;
  readonly userId: string;
  /** Of the key by which we know the person: what they begin ends with it. */
  readonly secretId: string;
  /** Drawn for the browser, and known to it alone. */
  readonly browser: string;
  /** Where the browser goes when it is over, below our own base. */
  readonly returnTo?: string | undefined;
}

/** What is sealed of a sign-in under way. */
interface Attempt extends Omit<TokenSource, 'as'> {
  readonly as: Pick<
    oauth.AuthorizationServer,
    | 'issuer'
    | 'token_endpoint'
    | 'revocation_endpoint'
    | 'authorization_response_iss_parameter_supported'
  >;
  readonly isAnonymous: boolean;
  readonly browserHash: string;
  readonly verifier: string;
  readonly scope: string | null;
  readonly fingerprint: string;
  readonly returnTo: string | null;
}

/** A sign-in that somebody has come back from. */
export interface FoundSignIn {
  readonly server: SignedInServer;
  readonly userId: string;
  readonly secretId: string;
  readonly returnTo: string | undefined;
  /** @throws SignInFault */
  finish(answer: URLSearchParams, who: SignedIn): Promise<void>;
}

const table = 'mcp_sign_ins';
const askMs = 10_000;
/** docs/mcp-oauth.md says so. */
const signInMs = 10 * 60_000;
/** Of one person at a time. */
const underWayMax = 10;

/**
 * People on their way to the authorisation server of an MCP server and back: PKCE (S256), a state that is used once, belongs to one
 * person and one browser, and an answer of the issuer that was asked.
 */
export class SignIns {
  readonly #parts: SignInsParts;

  constructor(parts: SignInsParts) {
    this.#parts = parts;
  }

  /** @returns where the browser goes @throws SignInFault */
  async begin(who: SigningIn, own: OwnAddresses): Promise<URL> {
    const { client, vault, fetch, clients, connections, now } = this.#parts;
    const server = await findServer(client, who.serverId);
    if (server === undefined) throw new SignInFault('not_found', 'There is no such MCP server.');
    const calling = callingOf(vault, server.integration, 'oauth_auto');
    const asker = new Asker({ fetch, server: new URL(calling.url), timeoutMs: askMs });
    try {
      const found = await discoverAuthorization(asker, calling.given, [
        'token_endpoint',
        'authorization_endpoint',
      ]);
      requirePkce(found);
      const address = this.#authorizationAddress(asker, found);
      const scope = scopeOf(found, calling.given, await connections.furtherScopes(who));
      const authorization = { ...found, scope };
      const upstream = await clients.of(asker, calling, authorization, own);
      const state = oauth.generateRandomState();
      const verifier = oauth.generateRandomCodeVerifier();
      const { as, resource, isAnonymous } = found;
      const sent = calling.given.send_resource === false ? null : resource;
      const attempt: Attempt = {
        as: {
          issuer: as.issuer,
          ...pick(as, 'token_endpoint'),
          ...pick(as, 'revocation_endpoint'),
          ...pick(as, 'authorization_response_iss_parameter_supported'),
        },
        isAnonymous,
        client: upstream,
        resource: sent,
        redirectUri: own.redirectUri,
        browserHash: hashOf(who.browser).toString('hex'),
        verifier,
        scope: scope ?? null,
        fingerprint: calling.fingerprint.toString('hex'),
        returnTo: who.returnTo ?? null,
      };
      const stateHash = hashOf(state);
      await insertSignIn(
        client,
        stateHash,
        {
          serverId: server.id,
          userId: who.userId,
          secretId: who.secretId,
          sealedAttempt: vault.seal(JSON.stringify(attempt), addressOf(stateHash)),
          expiresAt: new Date(now().getTime() + signInMs),
        },
        underWayMax,
      );
      const parameters = {
        ...(calling.given.authorization_params as Record<string, string> | undefined),
        response_type: 'code',
        client_id: upstream.id,
        redirect_uri: own.redirectUri,
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(scope === undefined ? {} : { scope }),
        ...(sent === null ? {} : { resource: sent }),
      };
      for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
      return address;
    } catch (error) {
      throw signInFault(error);
    }
  }

  /** Undefined = there is none of this state in this browser: it is over, or was begun elsewhere. */
  async find(state: string, browser: string): Promise<FoundSignIn | undefined> {
    const { client, vault, now } = this.#parts;
    const stateHash = hashOf(state);
    const row = await findSignIn(client, stateHash, now());
    if (row === undefined) return undefined;
    const sealed = Buffer.from(row.sealedAttempt);
    const attempt = JSON.parse(vault.open(sealed, addressOf(stateHash))) as Attempt;
    if (!timingSafeEqual(Buffer.from(attempt.browserHash, 'hex'), hashOf(browser)))
      return undefined;
    const server = await findServer(client, row.serverId);
    if (server === undefined) return undefined;
    const { userId, secretId } = row;
    return {
      server,
      userId,
      secretId,
      returnTo: attempt.returnTo ?? undefined,
      finish: async (answer, who) => {
        if (!(await useSignIn(client, stateHash)))
          throw new SignInFault('used', 'This sign-in has been used already.');
        await this.#finish(server, userId, attempt, answer, state, who);
      },
    };
  }

  async #finish(
    server: SignedInServer,
    userId: string,
    attempt: Attempt,
    came: URLSearchParams,
    state: string,
    who: SignedIn,
  ): Promise<void> {
    const { vault, fetch, clients, connections } = this.#parts;
    const { as, client: upstream, redirectUri, verifier, resource } = attempt;
    const calling = callingOf(vault, server.integration, 'oauth_auto');
    if (calling.fingerprint.toString('hex') !== attempt.fingerprint)
      throw new SignInFault('changed', 'The MCP server was set up anew meanwhile: begin again.');
    const known = { client_id: upstream.id };
    const answer = new URLSearchParams(came);
    // Nobody said who the issuer is: there is nothing to hold it against.
    if (attempt.isAnonymous) answer.delete('iss');
    try {
      const code = oauth.validateAuthResponse(as, known, answer, state);
      const asker = new Asker({ fetch, server: new URL(calling.url), timeoutMs: askMs });
      const response = await oauth.authorizationCodeGrantRequest(
        as,
        known,
        clientAuth(upstream),
        code,
        redirectUri,
        verifier,
        {
          ...asker.options,
          ...(resource === null ? {} : { additionalParameters: { resource } }),
        },
      );
      const given = readTokenAnswer(
        await oauth.processAuthorizationCodeResponse(as, known, response),
      );
      const source = { as, client: upstream, resource, redirectUri };
      const scope = attempt.scope ?? undefined;
      await connections.connect(server, userId, calling, source, given, scope, who);
    } catch (error) {
      const fault = signInFault(error);
      const isUnknown = fault instanceof SignInFault && fault.code === 'invalid_client';
      if (isUnknown && upstream.isRegistered)
        await clients.forget(calling, as.issuer, { redirectUri });
      throw fault;
    }
  }

  /** @throws SignInFault where a browser must not be sent there */
  #authorizationAddress(asker: Asker, { as }: Authorization): URL {
    const { authorization_endpoint: said = '' } = as;
    const url = URL.parse(said);
    if (url === null || !asker.isSafe(url))
      throw new SignInFault(
        'invalid_metadata',
        'The authorisation endpoint of the authorisation server is no https address.',
      );
    checkUpstreamUrl(said, this.#parts.hostRules, 'authorization_endpoint', 'admin');
    url.hash = '';
    return url;
  }
}

/** Who publishes metadata says there that it knows S256; who does not say it does not (MCP, authorisation). */
function requirePkce({ as, isPublished }: Authorization): void {
  if (!isPublished || as.code_challenge_methods_supported?.includes('S256') === true) return;
  throw new SignInFault(
    'no_pkce',
    'The authorisation server does not say that it takes PKCE with S256.',
  );
}

/** As the admin says; else what the server asks for, and with it what it wanted since and what lets us renew tokens. */
function scopeOf(
  { as, scope }: Authorization,
  given: GivenMetadata,
  further: readonly string[],
): string | undefined {
  const asked = scopesIn(scope ?? '');
  const isSaid = typeof given.scope === 'string' && given.scope !== '';
  const lasting =
    !isSaid && asked.length > 0 && as.scopes_supported?.includes('offline_access') === true
      ? ['offline_access']
      : [];
  const all = [...new Set([...asked, ...further, ...lasting])];
  return all.length === 0 ? undefined : all.join(' ');
}

function pick<T, K extends keyof T>(from: T, name: K): Partial<Pick<T, K>> {
  return from[name] === undefined ? {} : ({ [name]: from[name] } as Pick<T, K>);
}

function addressOf(stateHash: Buffer) {
  return { table, id: `\\x${stateHash.toString('hex')}` };
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** What stands for one browser. */
export function newBrowser(): string {
  return randomBytes(24).toString('base64url');
}
