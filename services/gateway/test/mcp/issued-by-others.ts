import {
  Client as ClientOfTwo,
  type OAuthClientProvider as ProviderOfTwo,
  StreamableHTTPClientTransport as TransportOfTwo,
} from '@modelcontextprotocol/client';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  eventually,
  type Issuer,
  type OauthServer,
  startIssuer,
  startOauthServer,
} from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LegacyUpstream } from './legacy-upstream.ts';
import type { McpLab, SavedServer } from './mcp-lab.ts';

interface World {
  readonly lab: McpLab;
  readonly base: string;
  readonly upstream: LegacyUpstream;
  /** Of all keys of the user the oldest. */
  readonly person: { readonly id: string; readonly keyId: string };
}

const redirectUri = 'http://127.0.0.1:41234/callback';

/** A host whose browser the organisation's authorisation server knows. */
class Host implements OAuthClientProvider, ProviderOfTwo {
  readonly redirectUrl = redirectUri;
  readonly clientMetadata = { redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' };
  away = new URL(redirectUri);
  readonly #account: string;
  // biome-ignore lint/suspicious/noExplicitAny: each client has types of its own for the same documents
  readonly #kept: Record<string, any> = {};

  constructor(account: string) {
    this.#account = account;
  }

  clientInformation = () => this.#kept.client;
  saveClientInformation = (value: unknown) => this.#keep('client', value);
  tokens = () => this.#kept.tokens;
  saveTokens = (value: unknown) => this.#keep('tokens', value);
  codeVerifier = () => String(this.#kept.verifier);
  saveCodeVerifier = (value: string) => this.#keep('verifier', value);
  state = () => 'a-state';

  async redirectToAuthorization(url: URL) {
    const headers = { 'x-account': this.#account };
    const answer = await fetch(url, { headers, redirect: 'manual' });
    this.away = new URL(answer.headers.get('location') ?? '');
    expect(this.away.searchParams.get('error'), this.away.href).toBeNull();
  }

  #keep(name: string, value: unknown) {
    this.#kept[name] = value;
  }
}

const begin = {
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'x', version: '1' },
  },
};

const clients = [
  [
    'sdk 1.32',
    async (url: URL, authProvider: Host) => {
      const make = () => new Client({ name: 'stranger', version: '1' }, { capabilities: {} });
      const transport = new StreamableHTTPClientTransport(url, { authProvider });
      await expect(make().connect(transport)).rejects.toThrow('Unauthorized');
      await transport.finishAuth(authProvider.away.searchParams.get('code') ?? '');
      const client = make();
      await client.connect(new StreamableHTTPClientTransport(url, { authProvider }));
      return client;
    },
  ],
  [
    'client 2.4',
    async (url: URL, authProvider: Host) => {
      const make = () => new ClientOfTwo({ name: 'stranger', version: '1' });
      const transport = new TransportOfTwo(url, { authProvider });
      await expect(make().connect(transport)).rejects.toThrow();
      await transport.finishAuth(authProvider.away.searchParams);
      const client = make();
      await client.connect(new TransportOfTwo(url, { authProvider }));
      return client;
    },
  ],
] as const;

/** Servers whose tokens the organisation's own authorisation server gives (`external_auth_config`). */
export function issuedByOthers(world: () => World): void {
  describe('a server whose tokens another issuer gives', () => {
    let signer: Issuer;
    let idp: OauthServer;
    let server: SavedServer;
    let url: URL;
    let email = '';
    let keyId = '';

    beforeAll(async () => {
      const { lab, base, upstream, person } = world();
      signer = await startIssuer();
      idp = await startOauthServer({ signer, claimsOf: claims, path: '/tenant' });
      server = await lab.save({
        url: upstream.url,
        configurations: { external_auth_config: { issuer: idp.issuer, scope: 'tools' } },
      });
      url = new URL(`${base}/${server.slug}/mcp`);
      idp.resource = url.href;
      ({ keyId } = person);
      const user = await lab.scenario.admin<{ email: string }>('GET', `/admin/users/${person.id}`);
      ({ email } = user);
    });
    afterAll(async () => {
      await idp?.close();
      await signer?.close();
    });

    const claims = (account: string) => ({
      email: account === 'somebody' ? email.toUpperCase() : account,
      email_verified: account !== 'unverified',
    });
    const good = () => ({
      iss: idp.issuer,
      aud: url.href,
      scope: 'tools',
      sub: 'somebody',
      ...claims('somebody'),
    });
    const ask = async (
      token: string | undefined,
      path = url.pathname,
      asked: { method: string; params: object; session?: string } = begin,
    ) => {
      const { session, ...message } = asked;
      const answer = await fetch(new URL(path, url), {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(session === undefined ? {} : { 'mcp-session-id': session }),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
      });
      const challenge = answer.headers.get('www-authenticate') ?? '';
      const id = answer.headers.get('mcp-session-id') ?? '';
      return { status: answer.status, challenge, id, text: await answer.text() };
    };

    it.each(clients)('is found and used by %s, which logs in there', async (_name, connect) => {
      const client = await connect(url, new Host('somebody'));
      const { tools } = await client.listTools();
      expect(tools.length).toBeGreaterThan(0);
      await client.close();
      expect(idp.authorizations.at(-1)?.get('scope')).toBe('tools');
    });

    it('says in its document and its challenge who gives tokens, and for what', async () => {
      const document = await fetch(
        new URL(`/.well-known/oauth-protected-resource${url.pathname}`, url),
      );
      expect(await document.json()).toEqual({
        resource: url.href,
        authorization_servers: [idp.issuer],
        bearer_methods_supported: ['header'],
        scopes_supported: ['tools'],
      });
      const { status, challenge } = await ask(undefined);
      expect(status).toBe(401);
      expect(challenge).toMatch(/^Bearer resource_metadata="[^"]+", scope="tools"$/);
    });

    it('takes no token that does not hold, and none of ours', async () => {
      const past = Math.floor(Date.now() / 1000) - 60;
      const unsigned = `${Buffer.from('{"alg":"none","kid":"key-1"}').toString('base64url')}.${Buffer.from(JSON.stringify({ ...good(), exp: past + 999 })).toString('base64url')}.`;
      const stranger = await startIssuer();
      const refused: [string, string][] = [
        ['expired', await signer.sign({ ...good(), exp: past })],
        ['exp', await signer.sign({ ...good(), exp: undefined } as never)],
        ['audience', await signer.sign({ ...good(), aud: `${url.href}/other` })],
        ['audience', await signer.sign({ ...good(), aud: undefined } as never)],
        ['signature', await stranger.sign(good())],
        ['algorithm', unsigned],
        ['kid', await signer.sign(good(), { header: { kid: undefined } })],
        ['verified', await signer.sign({ ...good(), email_verified: false })],
        ['sub', await signer.sign({ ...good(), sub: undefined } as never)],
        ['not valid yet', await signer.sign({ ...good(), nbf: past + 600 })],
        ['key', await signer.sign({ ...good(), iss: 'https://another.example' })],
      ];
      await stranger.close();
      for (const [why, token] of refused) {
        const { status, challenge, text } = await ask(token);
        expect(status, `${why}: ${text}`).toBe(401);
        expect(challenge, why).toMatch(/^Bearer error="invalid_token", resource_metadata="/);
        expect(text).toContain(why);
      }
      expect((await ask(await signer.sign({ ...good(), scope: 'other' }))).status).toBe(403);
      expect(
        (await ask(await signer.sign({ ...good(), sub: 'x', email: 'who@example.com' }))).status,
      ).toBe(403);
      // Elsewhere it opens nothing.
      const { lab, upstream } = world();
      const plain = await lab.save({ url: upstream.url });
      expect((await ask(await signer.sign(good()), `/${plain.slug}/mcp`)).status).toBe(401);
      const chat = await lab.scenario.call('/v1/chat/completions', {
        key: await signer.sign(good()),
        body: {},
      });
      expect(chat.status).toBe(401);
    });

    it('goes on while the issuer is away, and ends with the key that it stands for', async () => {
      const token = await signer.sign(good());
      expect((await ask(token)).status).toBe(200);
      signer.answer = (_req, res) => void res.destroy();
      const another = await signer.sign({ ...good(), jti: 'another' });
      expect((await ask(another)).status).toBe(200);
      signer.answer = undefined;
      const { lab, upstream } = world();
      const { scenario } = lab;
      // What is under way was let in, and goes to its end: a tool that was called has been called.
      const { id: session } = await ask(token);
      const params = { name: 'progress', arguments: { steps: 5, ms: 100 } };
      const seen = upstream.requests.length;
      const underWay = ask(token, url.pathname, { method: 'tools/call', params, session });
      await eventually(() =>
        expect(upstream.requests.slice(seen).map(({ body }) => body?.params?.name)).toContain(
          'progress',
        ),
      );
      await scenario.admin('POST', `/api-keys/${keyId}/suspend`, {});
      const again = { method: 'tools/call', params, session };
      expect((await ask(token, url.pathname, again)).status).toBe(403);
      const { status, text } = await underWay;
      expect(status).toBe(200);
      expect(text).toContain('"result"');
      await scenario.admin('POST', `/api-keys/${keyId}/resume`, {});
      expect((await ask(token)).status).toBe(200);
      await scenario.admin('PUT', `/mcp-integrations/${server.integrationId}`, {
        configurations: { external_auth_config: { issuer: `${idp.issuer}/elsewhere` } },
      });
      expect((await ask(token)).status).toBe(401);
    });
  });
}
