import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Request, Response } from 'express';
import type { Provider } from 'oidc-provider';
import { errors } from 'oidc-provider';
import type { DatabaseClient } from '../kernel/database/client.ts';
import { clientAddress } from '../kernel/http/arrival.ts';
import { SignInFault } from '../tools/registry/sign-in-fault.ts';
import { newBrowser } from '../tools/upstream-oauth/sign-ins.ts';
import { isOwnForm, sendPage } from './answer-page.ts';
import { Attempts } from './attempts.ts';
import {
  addressOf,
  nameOf,
  oauthPaths,
  reachableServer,
  unchosenServer,
} from './authorization-server.ts';
import { browserOf, prefixOf, setBrowser } from './browser-cookie.ts';
import type { Grants } from './grants.ts';
import type { OpenIdLogins } from './openid-logins.ts';
import {
  type Asking,
  consentPage,
  errorPage,
  loginPage,
  notSignedInPage,
  openIdPage,
  type Page,
  workspacePage,
} from './pages.ts';
import { faultTexts, type Person, personOfKey, personOfSecret } from './person.ts';
import { listOpenIdOrganisations, listReachableServers } from './store.ts';
import type { UpstreamPages } from './upstream-pages.ts';

export interface InteractionParts {
  client: DatabaseClient;
  grants: Grants;
  upstream: UpstreamPages;
  openId: OpenIdLogins;
  peppers: readonly Buffer[];
  masterKey: Buffer;
  now: () => Date;
}

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

const loginsPerAddress = { max: 10, windowMs: 60_000 };
const loginsPerRequest = { max: 10, windowMs: 30 * 60_000 };
const choicesMax = 200;
const organisationsMax = 5;

/** The pages between a client's request and its answer: who is it, and do they let the client in. */
export class InteractionPages {
  readonly #parts: InteractionParts;
  readonly #byAddress: Attempts;
  readonly #byRequest: Attempts;
  readonly #proofKey: Buffer;

  constructor(parts: InteractionParts) {
    this.#parts = parts;
    const now = () => parts.now().getTime();
    this.#byAddress = new Attempts({ ...loginsPerAddress, now });
    this.#byRequest = new Attempts({ ...loginsPerRequest, now });
    this.#proofKey = createHmac('sha256', parts.masterKey).update('sluice oauth forms 1').digest();
  }

  async show(provider: Provider, req: Request, res: Response): Promise<void> {
    const interaction = await this.#find(provider, req, res);
    if (interaction === undefined) return;
    if (interaction.prompt.name === 'login') {
      const { back } = req.query;
      return typeof back === 'string'
        ? this.#comeBack(provider, interaction, back, req, res)
        : this.#showLogin(provider, interaction, res);
    }
    const person = await this.#personOf(interaction);
    if (person === undefined) return res.redirect(303, interaction.returnTo);
    await this.#showConsent(provider, interaction, person, res);
  }

  async take(provider: Provider, req: Request, res: Response): Promise<void> {
    const interaction = await this.#find(provider, req, res);
    if (interaction === undefined) return;
    const form = (req.body ?? {}) as Record<string, unknown>;
    if (!this.#isProof(interaction, form.proof) || !isOwnForm(req, provider.issuer))
      return sendPage(
        res,
        errorPage('invalid_request', 'This form is not from here, or has been open for too long.'),
        403,
      );
    if (form.do === 'deny') return deny(provider, req, res);
    if (interaction.prompt.name === 'login') {
      if (form.do === 'openid') return this.#leave(provider, interaction, req, res);
      if (form.do === 'choose' && typeof form.back === 'string')
        return this.#comeBack(provider, interaction, form.back, req, res);
      return this.#login(provider, interaction, req, res);
    }
    const person = await this.#personOf(interaction);
    if (person === undefined) return res.redirect(303, interaction.returnTo);
    if (form.do === 'switch') return this.#switch(provider, interaction, res);
    if (form.do === 'allow') return this.#allow(provider, interaction, person, req, res);
    await this.#showConsent(provider, interaction, person, res);
  }

  /** The request under way that the browser's cookie names, which must be that of the address. */
  async #find(provider: Provider, req: Request, res: Response): Promise<Interaction | undefined> {
    try {
      const found = await provider.interactionDetails(req, res);
      if (found.uid === req.params.uid) return found;
    } catch (error) {
      if (!(error instanceof errors.OIDCProviderError)) throw error;
    }
    sendPage(
      res,
      errorPage(
        'invalid_request',
        'This log-in has ended, or was begun in another browser. Cookies are needed.',
      ),
      400,
    );
    return undefined;
  }

  async #showLogin(
    provider: Provider,
    interaction: Interaction,
    res: Response,
    fault?: string,
    status = 200,
  ): Promise<void> {
    const asking = await this.#asking(provider, interaction);
    const organisations = await this.#organisationsOf(provider, interaction);
    sendPage(res, loginPage(asking, fault, organisations), status);
  }

  /** Those that have the server that is asked for; of an installation with one, that one. */
  async #organisationsOf(provider: Provider, { params }: Interaction) {
    const { client } = this.#parts;
    const resource = String(params.resource);
    if (resource !== unchosenServer(provider.issuer)) {
      const address = addressOf(provider.issuer, resource);
      return address === undefined
        ? []
        : listOpenIdOrganisations(client, address, organisationsMax);
    }
    // Who asks for nothing is not told who is here.
    const all = await listOpenIdOrganisations(client, undefined, 2);
    return all.length === 1 ? all : [];
  }

  /** To the OpenID provider. */
  async #leave(
    provider: Provider,
    interaction: Interaction,
    req: Request,
    res: Response,
  ): Promise<void> {
    const { organisation } = req.body as { organisation?: unknown };
    const offered = await this.#organisationsOf(provider, interaction);
    const chosen = offered.find(({ id }) => id === organisation);
    const waitS = this.#byRequest.take(interaction.uid);
    if (chosen === undefined || waitS > 0)
      return this.#showLogin(provider, interaction, res, faultTexts.unknown_provider, 400);
    const browser = browserOf(req) ?? newBrowser();
    setBrowser(res, provider.issuer, browser);
    try {
      const leaving = { organisationId: chosen.id, uid: interaction.uid, browser };
      sendPage(res, openIdPage(await this.#parts.openId.begin(provider.issuer, leaving)));
    } catch (error) {
      if (!(error instanceof SignInFault)) throw error;
      const said = `Logging in at ${chosen.name} does not work now: ${error.message} Try again later, or log in with a key. (${error.code})`;
      return this.#showLogin(provider, interaction, res, said, 502);
    }
  }

  /** The provider's answer: from there it goes back to the request, which has a cookie of its own. */
  async answered(base: string, req: Request, res: Response): Promise<void> {
    const answer = new URL(req.url, 'http://localhost').searchParams;
    const found = await this.#parts.openId.finish(answer, browserOf(req));
    if (found === undefined)
      return sendPage(
        res,
        errorPage(
          'invalid_request',
          'This log-in has ended, or was begun in another browser. Cookies are needed.',
        ),
        400,
      );
    const address = `${prefixOf(base)}${oauthPaths.interaction}/${found.uid}`;
    try {
      res.redirect(303, `${address}?back=${await found.back}`);
    } catch (error) {
      if (!(error instanceof SignInFault)) throw error;
      sendPage(res, notSignedInPage(error.code, error.message, address), 400);
    }
  }

  /** Whom the provider knows goes on by a key of theirs, of the workspace that has the server. */
  async #comeBack(
    provider: Provider,
    interaction: Interaction,
    back: string,
    req: Request,
    res: Response,
  ): Promise<void> {
    const { openId, client } = this.#parts;
    const all = await openId.peopleOf(back, interaction.uid);
    if (all === undefined)
      return this.#showLogin(
        provider,
        interaction,
        res,
        'This log-in has ended: begin again.',
        400,
      );
    const resource = String(interaction.params.resource);
    const address = addressOf(provider.issuer, resource);
    const isOpen = resource === unchosenServer(provider.issuer);
    const reached = await Promise.all(
      all.map(
        async (person) => isOpen || (await reachableServer(client, person, address)) !== undefined,
      ),
    );
    const people = all.filter((_, index) => reached[index]);
    const { secret } = (req.body ?? {}) as { secret?: unknown };
    const person =
      people.length === 1 ? people[0] : people.find(({ secretId }) => secretId === secret);
    if (people.length === 0)
      return this.#showLogin(provider, interaction, res, faultTexts.no_key, 403);
    if (person === undefined)
      return sendPage(res, workspacePage(await this.#asking(provider, interaction), back, people));
    if (!(await openId.use(back)))
      return this.#showLogin(
        provider,
        interaction,
        res,
        'This log-in has ended: begin again.',
        400,
      );
    await this.#loggedIn(provider, interaction, person, req, res);
  }

  async #loggedIn(
    provider: Provider,
    interaction: Interaction,
    person: Person,
    req: Request,
    res: Response,
  ): Promise<void> {
    await forgetOther(provider, interaction, person);
    await provider.interactionFinished(req, res, {
      login: { accountId: person.secretId, remember: true },
    });
  }

  async #login(
    provider: Provider,
    interaction: Interaction,
    req: Request,
    res: Response,
  ): Promise<void> {
    const { key } = req.body as { key?: unknown };
    const waitS = Math.max(
      this.#byAddress.take(clientAddress(req)),
      this.#byRequest.take(interaction.uid),
    );
    if (waitS > 0) {
      res.setHeader('retry-after', String(waitS));
      const said = `Too many attempts. Wait ${waitS} seconds.`;
      return this.#showLogin(provider, interaction, res, said, 429);
    }
    const person =
      typeof key === 'string'
        ? await personOfKey(this.#parts.client, key.trim(), this.#parts.peppers, this.#parts.now())
        : 'unknown';
    if (typeof person === 'string')
      return this.#showLogin(provider, interaction, res, faultTexts[person], 401);
    await this.#loggedIn(provider, interaction, person, req, res);
  }

  async #showConsent(
    provider: Provider,
    interaction: Interaction,
    person: Person,
    res: Response,
  ): Promise<void> {
    const asking = await this.#asking(provider, interaction);
    const resource = String(interaction.params.resource);
    const isOpen = resource === unchosenServer(provider.issuer);
    const choices = isOpen
      ? await listReachableServers(this.#parts.client, person, choicesMax)
      : [];
    const server = isOpen
      ? undefined
      : await reachableServer(this.#parts.client, person, addressOf(provider.issuer, resource));
    if (server === undefined && choices.length === 0)
      return sendPage(res, consentlessPage(asking, person), 403);
    sendPage(
      res,
      consentPage({
        ...asking,
        personName: person.name,
        workspaceName: person.workspaceName,
        server: server ?? { choices },
        scope: String(interaction.params.scope ?? ''),
      }),
    );
  }

  async #allow(
    provider: Provider,
    interaction: Interaction,
    person: Person,
    req: Request,
    res: Response,
  ): Promise<void> {
    const { params } = interaction;
    const redirectUri = String(params.redirect_uri);
    // Asked again: since the page was shown the client may have gone, or say something else of itself.
    const client = await provider.Client.find(String(params.client_id));
    if (client === undefined || !client.redirectUriAllowed(redirectUri))
      return sendPage(res, errorPage('invalid_client', 'The client is not known any more.'), 400);
    const resource = chosenResource(provider.issuer, String(params.resource), req.body);
    const server = await reachableServer(
      this.#parts.client,
      person,
      addressOf(provider.issuer, resource),
    );
    if (server === undefined) return this.#showConsent(provider, interaction, person, res);
    const grantId = await this.#parts.grants.make(
      person,
      {
        clientId: client.clientId,
        clientName: nameOf(client),
        resource,
        serverId: server.id,
        redirectUri,
        scope: String(params.scope),
      },
      clientAddress(req),
    );
    if (resource !== params.resource) {
      params.resource = resource;
      await interaction.save(leftOf(interaction));
    }
    const answer = { consent: { grantId } };
    const { upstream } = this.#parts;
    if (!(await upstream.isSignInMissing(server.id, person)))
      return provider.interactionFinished(req, res, answer);
    // The client's answer waits for where the person signs in first.
    const returnTo = await provider.interactionResult(req, res, answer);
    await upstream.leave(provider.issuer, server.id, person, returnTo, req, res);
  }

  /** Begins anew, with nobody logged in. */
  async #switch(provider: Provider, interaction: Interaction, res: Response): Promise<void> {
    await forgetSession(provider, interaction);
    await interaction.destroy();
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(interaction.params))
      if (typeof value === 'string') query.set(name, value);
    res.redirect(303, `${provider.issuer}${oauthPaths.authorize}?${query}`);
  }

  async #personOf({ session }: Interaction): Promise<Person | undefined> {
    const secretId = session?.accountId;
    if (secretId === undefined) return undefined;
    return personOfSecret(this.#parts.client, secretId, this.#parts.now());
  }

  async #asking(provider: Provider, interaction: Interaction): Promise<Asking> {
    const clientId = String(interaction.params.client_id);
    const client = await provider.Client.find(clientId);
    return {
      clientId,
      clientName: client === undefined ? clientId : nameOf(client),
      redirectUri: String(interaction.params.redirect_uri),
      proof: this.#proofOf(interaction),
      action: `${new URL(provider.issuer).pathname.replace(/\/$/, '')}${oauthPaths.interaction}/${interaction.uid}`,
    };
  }

  #proofOf({ uid, prompt, session }: Interaction): string {
    return createHmac('sha256', this.#proofKey)
      .update(JSON.stringify([uid, prompt.name, session?.accountId ?? '']))
      .digest('base64url');
  }

  #isProof(interaction: Interaction, sent: unknown): boolean {
    const expected = Buffer.from(this.#proofOf(interaction));
    const given = Buffer.from(typeof sent === 'string' ? sent : '');
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}

function deny(provider: Provider, req: Request, res: Response): Promise<void> {
  return provider.interactionFinished(
    req,
    res,
    { error: 'access_denied', error_description: 'the person did not let the client in' },
    { mergeWithLastSubmission: false },
  );
}

/** Whoever logs in in place of somebody begins a session of their own. */
async function forgetOther(provider: Provider, interaction: Interaction, person: Person) {
  const before = interaction.session?.accountId;
  if (before === undefined || before === person.secretId) return;
  await forgetSession(provider, interaction);
  interaction.session = undefined;
  await interaction.save(leftOf(interaction));
}

async function forgetSession(provider: Provider, { session }: Interaction): Promise<void> {
  const held = session === undefined ? undefined : await provider.Session.findByUid(session.uid);
  await held?.destroy();
}

/** In seconds. */
function leftOf({ exp }: Interaction): number {
  return Math.max(1, exp - Math.floor(Date.now() / 1000));
}

function chosenResource(base: string, resource: string, form: unknown): string {
  if (resource !== unchosenServer(base)) return resource;
  const { server } = (form ?? {}) as { server?: unknown };
  return typeof server === 'string' ? `${base}/${server}/mcp` : resource;
}

function consentlessPage(asking: Asking, person: Person): Page {
  return loginPage(
    asking,
    `There is no such MCP server for you in the workspace ${person.workspaceName}. Log in with a key of the workspace that has it.`,
  );
}
