import { createHash, randomBytes } from 'node:crypto';
import { checkUpstreamUrl, type GuardedFetch, type HostRules } from '@sluice/outbound';
import * as oauth from 'oauth4webapi';
import type { CredentialVault } from '../kernel/credentials/envelope.ts';
import type { DatabaseClient } from '../kernel/database/client.ts';
import { isUuid } from '../kernel/names/ids.ts';
import { openOidcSettings } from '../people/auth-settings/oidc-settings.ts';
import { findAuthSettings } from '../people/auth-settings/store.ts';
import { SignInFault } from '../tools/registry/sign-in-fault.ts';
import { Asker } from '../tools/upstream-oauth/asker.ts';
import { findMetadata } from '../tools/upstream-oauth/discover-authorization.ts';
import { signInFault } from '../tools/upstream-oauth/token-answer.ts';
import { clientAuth } from '../tools/upstream-oauth/upstream-client.ts';
import { type Person, personOfUser } from './person.ts';
import {
  consumeRecord,
  findRecord,
  findUserNamed,
  listWorkspacesOfUser,
  upsertRecord,
} from './store.ts';

export interface OpenIdParts {
  client: DatabaseClient;
  vault: CredentialVault;
  fetch: GuardedFetch;
  hostRules: HostRules;
  now: () => Date;
}

/** Where providers lead people back to; docs/mcp-oauth.md says so. */
export const openIdCallback = '/oauth/external-callback';

/** Somebody on the way to the provider. */
interface Leaving {
  readonly uid: string;
  readonly organisationId: string;
  readonly browserHash: string;
  readonly verifier: string;
  readonly nonce: string;
  readonly redirectUri: string;
  readonly issuer: string;
}

/** Somebody who is back: who they are, for the one request that they left from. */
interface Back {
  readonly uid: string;
  readonly organisationId: string;
  readonly userId: string;
}

const leavingModel = 'OpenIdLeaving';
const backModel = 'OpenIdBack';
const askMs = 10_000;
const lastsMs = 10 * 60_000;

/** People who log in at the OpenID provider of their organisation: code, PKCE, state and nonce, each used once and in one browser. */
export class OpenIdLogins {
  readonly #parts: OpenIdParts;

  constructor(parts: OpenIdParts) {
    this.#parts = parts;
  }

  /** @param uid  of the request under way @returns where the browser goes @throws SignInFault */
  async begin(
    base: string,
    { organisationId, uid, browser }: { organisationId: string; uid: string; browser: string },
  ): Promise<URL> {
    const { asker, as, settings } = await this.#provider(organisationId);
    const said = as.authorization_endpoint ?? '';
    const address = URL.parse(said);
    if (address === null || !asker.isSafe(address))
      throw new SignInFault('invalid_metadata', 'The OpenID provider says nowhere to log in.');
    checkUpstreamUrl(said, this.#parts.hostRules, 'authorization_endpoint', 'admin');
    const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
    const verifier = oauth.generateRandomCodeVerifier();
    const redirectUri = `${base}${openIdCallback}`;
    const { issuer } = settings;
    const browserHash = hashOf(browser).toString('hex');
    const leaving = { uid, organisationId, browserHash, verifier, nonce, redirectUri, issuer };
    await this.#keep<Leaving>(leavingModel, state, leaving);
    for (const [name, value] of Object.entries({
      response_type: 'code',
      client_id: settings.client_id,
      redirect_uri: redirectUri,
      scope: settings.scopes.join(' '),
      state,
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }))
      address.searchParams.set(name, value);
    address.hash = '';
    return address;
  }

  /**
   * Undefined = there is none of this state in this browser: it is over, or was begun elsewhere.
   * @returns the request that they left from, and what they prove there to be back with @throws SignInFault, with `uid`
   */
  async finish(
    answer: URLSearchParams,
    browser: string | undefined,
  ): Promise<{ uid: string; back: Promise<string> } | undefined> {
    const [state = '', ...more] = answer.getAll('state');
    const leaving = more.length > 0 ? undefined : await this.#read<Leaving>(leavingModel, state);
    if (leaving === undefined || browser === undefined) return undefined;
    if (leaving.browserHash !== hashOf(browser).toString('hex')) return undefined;
    if (!(await this.#use(leavingModel, state))) return undefined;
    return { uid: leaving.uid, back: this.#exchange(leaving, answer, state) };
  }

  /** By which keys somebody who is back can go on; undefined = nobody is, for this request. */
  async peopleOf(back: string, uid: string): Promise<Person[] | undefined> {
    const { client, now } = this.#parts;
    const read = await this.#read<Back>(backModel, back);
    if (read?.uid !== uid) return undefined;
    const { userId } = read;
    const workspaces = await listWorkspacesOfUser(client, userId);
    const people = await Promise.all(
      workspaces.map((workspaceId) => personOfUser(client, { userId, workspaceId }, now())),
    );
    return people.filter((person) => person !== undefined);
  }

  /** Whether this was the one time. */
  use(back: string): Promise<boolean> {
    return this.#use(backModel, back);
  }

  async #exchange(leaving: Leaving, answer: URLSearchParams, state: string): Promise<string> {
    const { organisationId, uid, verifier, nonce, redirectUri } = leaving;
    const { asker, as, settings } = await this.#provider(organisationId);
    if (settings.issuer !== leaving.issuer)
      throw new SignInFault('changed', 'The log-in was set up anew meanwhile: begin again.');
    try {
      const known = { client_id: settings.client_id };
      const code = oauth.validateAuthResponse(as, known, answer, state);
      const taken = as.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
      const { client_secret: secret } = settings;
      const method = taken.includes('client_secret_basic')
        ? 'client_secret_basic'
        : 'client_secret_post';
      const auth = { id: known.client_id, secret, isRegistered: false };
      const response = await oauth.authorizationCodeGrantRequest(
        as,
        known,
        clientAuth({ ...auth, method: secret === undefined ? 'none' : method }),
        code,
        redirectUri,
        verifier,
        asker.options,
      );
      const given = await oauth.processAuthorizationCodeResponse(as, known, response, {
        expectedNonce: nonce,
        requireIdToken: true,
      });
      await oauth.validateApplicationLevelSignature(as, response, asker.options);
      const claims = oauth.getValidatedIdTokenClaims(given);
      const userId = await this.#userOf(organisationId, claims);
      const back = randomBytes(24).toString('base64url');
      await this.#keep<Back>(backModel, back, { uid, organisationId, userId });
      return back;
    } catch (error) {
      throw signInFault(error);
    }
  }

  /** Nobody is made: who is no user of the organisation is nobody here. @throws SignInFault */
  async #userOf(organisationId: string, claims: oauth.IDToken | undefined): Promise<string> {
    const isVerified = claims?.email_verified === true || claims?.email_verified === 'true';
    // What a provider calls somebody is a name of ours where it was given our ids, and never an address.
    const { sub = '' } = claims ?? {};
    const names = [isVerified ? claims.email : undefined, isUuid(sub) ? sub : undefined];
    for (const name of names) {
      if (typeof name !== 'string' || name === '' || name.length > 1_024) continue;
      const found = await findUserNamed(this.#parts.client, organisationId, name);
      if (found !== undefined) return found;
    }
    throw new SignInFault(
      isVerified ? 'unknown_user' : 'unverified_email',
      isVerified
        ? 'The organisation has no user with the e-mail address that its OpenID provider knows you by: an administrator can invite you.'
        : 'The OpenID provider does not say that it has verified your e-mail address.',
    );
  }

  async #provider(organisationId: string) {
    const { client, vault, fetch } = this.#parts;
    const row = await findAuthSettings(client, organisationId);
    const settings = row === null ? undefined : openOidcSettings(vault, row);
    if (settings === undefined)
      throw new SignInFault('not_configured', 'Nobody logs in at an OpenID provider here.');
    const issuer = new URL(settings.issuer);
    const asker = new Asker({ fetch, server: issuer, timeoutMs: askMs });
    try {
      const as = await findMetadata(asker, issuer);
      if (as !== undefined) return { asker, as, settings };
    } catch (error) {
      throw signInFault(error);
    }
    throw new SignInFault('no_metadata', 'The OpenID provider publishes no metadata.');
  }

  async #keep<T extends object>(model: string, name: string, value: T): Promise<void> {
    const { client, vault, now } = this.#parts;
    const idHash = hashOf(name);
    await upsertRecord(
      client,
      { model, idHash },
      {
        grantId: null,
        uidHash: null,
        sealedPayload: vault.seal(JSON.stringify(value), addressOf(model, idHash)),
        expiresAt: new Date(now().getTime() + lastsMs),
      },
    );
  }

  async #read<T>(model: string, name: string): Promise<T | undefined> {
    const { client, vault, now } = this.#parts;
    const idHash = hashOf(name);
    const row = await findRecord(client, { model, idHash }, now());
    if (row === undefined || row.consumedAt !== null) return undefined;
    return JSON.parse(vault.open(Buffer.from(row.sealedPayload), addressOf(model, idHash))) as T;
  }

  #use(model: string, name: string): Promise<boolean> {
    const { client, now } = this.#parts;
    return consumeRecord(client, { model, idHash: hashOf(name) }, now());
  }
}

/** As the library's own records are. */
function addressOf(model: string, idHash: Buffer) {
  return { table: 'oauth_records', id: `${model}/\\x${idHash.toString('hex')}` };
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
