import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Request, Response } from 'express';
import type { DatabaseClient } from '../kernel/database/client.ts';
import { clientAddress } from '../kernel/http/arrival.ts';
import { isUuid } from '../kernel/names/ids.ts';
import { SignInFault } from '../tools/registry/sign-in-fault.ts';
import { findServer, type SignedInServer } from '../tools/upstream-oauth/connections-store.ts';
import { type FoundSignIn, newBrowser, type SignIns } from '../tools/upstream-oauth/sign-ins.ts';
import { type OwnAddresses, ownMetadata } from '../tools/upstream-oauth/upstream-client.ts';
import type { UserConnections } from '../tools/upstream-oauth/user-connections.ts';
import { isOwnForm, sendPage } from './answer-page.ts';
import { Attempts } from './attempts.ts';
import { browserOf, prefixOf, setBrowser } from './browser-cookie.ts';
import { errorPage, goOnPage, notSignedInPage, signedInPage, upstreamLoginPage } from './pages.ts';
import { faultTexts, type Person, personOfKey, personOfSecret } from './person.ts';
import { findReachableServer } from './store.ts';

export const upstreamPaths = {
  /** Where people begin; `?server=` names one. */
  signIn: '/oauth/upstream-auth',
  /** Where authorisation servers send people back to, all of them. */
  callback: '/oauth/upstream-callback',
  /** What we are to them. */
  clientDocument: '/oauth/upstream-client',
} as const;

export interface UpstreamPagesParts {
  readonly client: DatabaseClient;
  readonly signIns: SignIns;
  readonly connections: UserConnections;
  readonly peppers: readonly Buffer[];
  readonly masterKey: Buffer;
  readonly now: () => Date;
}

const loginsPerAddress = { max: 10, windowMs: 60_000 };
const beginsPerPerson = { max: 20, windowMs: 10 * 60_000 };

/**
 * People sign in at MCP servers: who are they here, then away to where the server has its accounts, and back. The address that begins
 * it stands for nobody, so that it may be shown to anybody: whoever opens it signs in for themselves.
 */
export class UpstreamPages {
  readonly #parts: UpstreamPagesParts;
  readonly #logins: Attempts;
  readonly #begins: Attempts;
  readonly #proofKey: Buffer;

  constructor(parts: UpstreamPagesParts) {
    this.#parts = parts;
    const now = () => parts.now().getTime();
    this.#logins = new Attempts({ ...loginsPerAddress, now });
    this.#begins = new Attempts({ ...beginsPerPerson, now });
    this.#proofKey = createHmac('sha256', parts.masterKey)
      .update('sluice upstream forms 1')
      .digest();
  }

  /** What we tell authorisation servers that read it where they find our client id. */
  clientDocument(base: string): object {
    const own = ownAddresses(base);
    return {
      client_id: `${base}${upstreamPaths.clientDocument}`,
      ...ownMetadata(own),
      client_uri: base,
      token_endpoint_auth_method: 'none',
    };
  }

  async show(base: string, req: Request, res: Response): Promise<void> {
    const server = await this.#serverAsked(req);
    if (server === undefined) return sendPage(res, unknownServer, 404);
    const browser = browserOf(req) ?? newBrowser();
    setBrowser(res, base, browser);
    sendPage(res, upstreamLoginPage(this.#asking(base, server, browser)));
  }

  async take(base: string, req: Request, res: Response): Promise<void> {
    const server = await this.#serverAsked(req);
    if (server === undefined) return sendPage(res, unknownServer, 404);
    const form = (req.body ?? {}) as Record<string, unknown>;
    const browser = browserOf(req);
    if (
      browser === undefined ||
      !this.#isProof(server, browser, form.proof) ||
      !isOwnForm(req, base)
    )
      return sendPage(
        res,
        errorPage('invalid_request', 'This form is not from here. Cookies are needed.'),
        403,
      );
    const asking = this.#asking(base, server, browser);
    const waitS = this.#logins.take(clientAddress(req));
    if (waitS > 0) {
      res.setHeader('retry-after', String(waitS));
      return sendPage(
        res,
        upstreamLoginPage(asking, `Too many attempts. Wait ${waitS} seconds.`),
        429,
      );
    }
    const { client, peppers, now } = this.#parts;
    const person =
      typeof form.key === 'string'
        ? await personOfKey(client, form.key.trim(), peppers, now())
        : 'unknown';
    if (typeof person === 'string')
      return sendPage(res, upstreamLoginPage(asking, faultTexts[person]), 401);
    // Of an office there may be many behind one address: those who know a key are not held up.
    this.#logins.takeBack(clientAddress(req));
    if (!(await this.#isReachable(server, person)))
      return sendPage(
        res,
        upstreamLoginPage(
          asking,
          `There is no such MCP server for you in the workspace ${person.workspaceName}.`,
        ),
        403,
      );
    await this.#leave(base, server, person, browser, undefined, res);
  }

  /** Sends a person on to sign in, before a client that they let in uses the server. @param returnTo where they go on then */
  async leave(
    base: string,
    serverId: string,
    person: Person,
    returnTo: string,
    req: Request,
    res: Response,
  ): Promise<void> {
    const server = await findServer(this.#parts.client, serverId);
    if (server === undefined) return res.redirect(303, returnTo);
    const browser = browserOf(req) ?? newBrowser();
    setBrowser(res, base, browser);
    await this.#leave(base, server, person, browser, returnTo, res);
  }

  /** Whether this person could use the server only after they signed in there. */
  async isSignInMissing(serverId: string, person: Person): Promise<boolean> {
    const server = await findServer(this.#parts.client, serverId);
    if (server?.integration.authType !== 'oauth_auto') return false;
    return !(await this.#parts.connections.isSignedIn(server, person.userId));
  }

  async back(req: Request, res: Response): Promise<void> {
    const answer = new URL(req.url, 'http://localhost').searchParams;
    const states = answer.getAll('state');
    const [state = ''] = states;
    const browser = browserOf(req);
    const found =
      states.length === 1 && statePattern.test(state) && browser !== undefined
        ? await this.#parts.signIns.find(state, browser)
        : undefined;
    if (found === undefined)
      return sendPage(
        res,
        errorPage(
          'invalid_request',
          'This sign-in has ended, or was begun in another browser. Cookies are needed.',
        ),
        400,
      );
    await this.#finish(found, answer, req, res);
  }

  async #finish(
    found: FoundSignIn,
    answer: URLSearchParams,
    req: Request,
    res: Response,
  ): Promise<void> {
    const { server, userId, secretId, returnTo } = found;
    const { client, now } = this.#parts;
    const person = await personOfSecret(client, secretId, now());
    if (person?.userId !== userId || !(await this.#isReachable(server, person)))
      return sendPage(res, errorPage('access_denied', faultTexts.not_allowed), 403);
    try {
      await found.finish(answer, { keyId: person.keyId, clientIp: clientAddress(req) });
    } catch (error) {
      return this.#refuse(error, returnTo, res);
    }
    if (returnTo !== undefined) return res.redirect(303, returnTo);
    sendPage(res, signedInPage(server.name));
  }

  async #leave(
    base: string,
    server: SignedInServer,
    person: Person,
    browser: string,
    returnTo: string | undefined,
    res: Response,
  ): Promise<void> {
    const waitS = this.#begins.take(person.userId);
    if (waitS > 0) {
      res.setHeader('retry-after', String(waitS));
      const said = `Too many sign-ins have been begun. Wait ${waitS} seconds.`;
      return sendPage(res, notSignedInPage('temporarily_unavailable', said, returnTo), 429);
    }
    try {
      const who = {
        serverId: server.id,
        userId: person.userId,
        secretId: person.secretId,
        browser,
        returnTo,
      };
      const address = await this.#parts.signIns.begin(who, ownAddresses(base));
      sendPage(res, goOnPage(server.name, address));
    } catch (error) {
      this.#refuse(error, returnTo, res);
    }
  }

  #refuse(error: unknown, returnTo: string | undefined, res: Response): void {
    if (!(error instanceof SignInFault)) throw error;
    sendPage(res, notSignedInPage(error.code, error.message, returnTo), 400);
  }

  async #serverAsked(req: Request): Promise<SignedInServer | undefined> {
    const { server: id } = req.query;
    if (typeof id !== 'string' || !isUuid(id)) return undefined;
    const server = await findServer(this.#parts.client, id);
    return server?.integration.authType === 'oauth_auto' ? server : undefined;
  }

  async #isReachable(server: SignedInServer, person: Person): Promise<boolean> {
    if (server.workspaceId !== person.workspaceId) return false;
    const found = await findReachableServer(this.#parts.client, person, server.slug);
    return found?.id === server.id;
  }

  #asking(base: string, server: SignedInServer, browser: string) {
    return {
      serverName: server.name,
      proof: this.#proofOf(server, browser),
      action: `${prefixOf(base)}${upstreamPaths.signIn}?server=${server.id}`,
    };
  }

  #proofOf({ id }: SignedInServer, browser: string): string {
    return createHmac('sha256', this.#proofKey)
      .update(JSON.stringify([id, browser]))
      .digest('base64url');
  }

  #isProof(server: SignedInServer, browser: string, sent: unknown): boolean {
    const expected = Buffer.from(this.#proofOf(server, browser));
    const given = Buffer.from(typeof sent === 'string' ? sent : '');
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}

const statePattern = /^[\w-]{20,100}$/;
const unknownServer = errorPage(
  'invalid_request',
  'There is no MCP server of this name where people sign in by themselves.',
);

/** Where others find us, below this base. A document is of use where an authorisation server can read it. */
export function ownAddresses(base: string): OwnAddresses {
  return {
    redirectUri: `${base}${upstreamPaths.callback}`,
    clientDocument: base.startsWith('https://')
      ? `${base}${upstreamPaths.clientDocument}`
      : undefined,
  };
}
