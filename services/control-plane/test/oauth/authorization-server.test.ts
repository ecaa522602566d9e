import { awayFrom, Browser, pageOf, startIssuer, startOauthServer } from '@sluice/testkit';
import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../support/harness.ts';
import {
  authorizeUrl,
  letIn,
  type OauthWorld,
  oauthWorld,
  proofKey,
  redirectUri,
  register,
} from './world.ts';

let h: Harness;
let w: OauthWorld;
beforeAll(async () => {
  h = await startHarness();
  w = await oauthWorld(h, `http://127.0.0.1:${h.service.httpPort}`);
});
afterAll(() => h.stop());

const insecure = { [oauth.allowInsecureRequests]: true };

describe('the authorisation server, by oauth4webapi', () => {
  it('discovers, registers, logs in with S256 and iss, refreshes with rotation, introspects and revokes (M18)', async () => {
    const resource = new URL(`${w.base}/${w.server.slug}/mcp`);
    const prm = await oauth.processResourceDiscoveryResponse(
      resource,
      await oauth.resourceDiscoveryRequest(resource, insecure),
    );
    expect(prm.authorization_servers).toEqual([w.base]);
    const issuer = new URL(prm.authorization_servers?.[0] ?? '');
    const as = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
    );
    expect(as.issuer).toBe(w.base);
    expect(as.code_challenge_methods_supported).toEqual(['S256']);
    const client = await oauth.processDynamicClientRegistrationResponse(
      await oauth.dynamicClientRegistrationRequest(
        as,
        {
          client_name: 'M18',
          redirect_uris: [redirectUri],
          token_endpoint_auth_method: 'client_secret_basic',
          grant_types: ['authorization_code', 'refresh_token'],
        },
        insecure,
      ),
    );
    const auth = oauth.ClientSecretBasic(String(client.client_secret));
    const { verifier, challenge } = proofKey();
    const away = await letIn(
      w,
      authorizeUrl(w, {
        clientId: client.client_id,
        challenge,
        state: 's1',
        scope: 'mcp:read mcp',
      }),
    );
    expect(away.searchParams.get('iss')).toBe(w.base);
    const params = oauth.validateAuthResponse(as, client, away, 's1');
    const tokens = await oauth.processAuthorizationCodeResponse(
      as,
      client,
      await oauth.authorizationCodeGrantRequest(as, client, auth, params, redirectUri, verifier, {
        additionalParameters: { resource: resource.href },
        ...insecure,
      }),
    );
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'mcp:read mcp' });
    // By the keys that are published, as a gateway that knows nothing else would.
    const claims = await oauth.validateJwtAccessToken(
      as,
      new Request(resource, { headers: { authorization: `Bearer ${tokens.access_token}` } }),
      resource.href,
      insecure,
    );
    expect(claims).toMatchObject({
      iss: w.base,
      aud: resource.href,
      sub: w.person.userId,
      client_id: client.client_id,
      workspace_id: h.first.workspace_id,
    });

    const introspect = async (token: string) =>
      oauth.processIntrospectionResponse(
        as,
        client,
        await oauth.introspectionRequest(as, client, auth, token, insecure),
      );
    expect(await introspect(tokens.access_token)).toMatchObject({
      active: true,
      sub: w.person.userId,
      aud: resource.href,
      workspace: w.workspaceSlug,
    });
    const refresh = async (token: string) =>
      oauth.processRefreshTokenResponse(
        as,
        client,
        await oauth.refreshTokenGrantRequest(as, client, auth, token, insecure),
      );
    const renewed = await refresh(String(tokens.refresh_token));
    expect(renewed.refresh_token).not.toBe(tokens.refresh_token);
    expect(await introspect(String(renewed.refresh_token))).toMatchObject({
      active: true,
      sub: w.person.userId,
    });
    // Used a second time the old one ends the whole family, the new one with it.
    await expect(refresh(String(tokens.refresh_token))).rejects.toMatchObject({
      error: 'invalid_grant',
      status: 400,
    });
    await expect(refresh(String(renewed.refresh_token))).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    expect(await introspect(renewed.access_token)).toMatchObject({ active: false });
    const revoked = await oauth.revocationRequest(as, client, auth, renewed.access_token, insecure);
    await oauth.processRevocationResponse(revoked);
  });

  it('signs with a key that stands in no column in clear', async () => {
    const [key] = await h.db.oauthSigningKey.findMany();
    expect(Buffer.from(key?.sealedPrivateKey ?? []).toString('latin1')).not.toContain(
      'PRIVATE KEY',
    );
    expect(JSON.stringify(key?.publicJwk)).not.toMatch(/"d":/);
  });
});

describe('people who log in at the OpenID provider of their organisation', () => {
  const path = '/admin/organisation/auth-settings';
  let email = '';

  async function provider() {
    const signer = await startIssuer();
    const idp = await startOauthServer({
      ...{ signer, path: '/tenant', metadata: 'oidc-appended', refusesResource: true },
      scopes: ['openid', 'email'],
      claimsOf: (account) => ({ email: account, email_verified: account !== 'unverified' }),
    });
    const redirectUris = [`${w.base}/oauth/external-callback`];
    idp.clients.set('sluice', { secret: 'a secret', redirectUris });
    const oidc = { issuer: idp.issuer, client_id: 'sluice', client_secret: 'a secret' };
    await h.as(h.first.admin_key).put(path, { oidc }).expect(200);
    const close = async () => {
      await h.as(h.first.admin_key).put(path, { oidc: null }).expect(200);
      await idp.close();
      await signer.close();
    };
    return { idp, signer, close };
  }
  const begin = async (browser: Browser) => {
    const { client_id: clientId = '' } = await register(w.base);
    const url = authorizeUrl(w, { clientId, challenge: proofKey().challenge });
    return pageOf(await browser.follow(url));
  };
  /** To the provider, and as far as its answer. */
  const leave = async (browser: Browser, account: string) => {
    const page = await begin(browser);
    expect(page.html).toContain('value="openid"');
    const organisation = h.first.organisation_id;
    const left = await pageOf(await browser.submit(page, { do: 'openid', organisation }));
    const [, href = ''] = /id="go-on" href="([^"]+)"/.exec(left.html) ?? [];
    const headers = { 'x-account': account };
    const url = new URL(href.replaceAll('&amp;', '&'));
    const answer = await fetch(url, { redirect: 'manual', headers });
    return { url, back: answer.headers.get('location') ?? '' };
  };

  beforeAll(async () => {
    ({ email } = await h.db.user.findUniqueOrThrow({ where: { id: w.person.userId } }));
  });

  it('go on as themselves, by code, PKCE, nonce and state, each once and in one browser', async () => {
    const { idp, close } = await provider();
    try {
      const browser = new Browser(w.base);
      const { url, back } = await leave(browser, email.toUpperCase());
      expect(Object.fromEntries(url.searchParams)).toMatchObject({
        ...{ response_type: 'code', client_id: 'sluice', scope: 'openid email' },
        code_challenge_method: 'S256',
        nonce: expect.stringMatching(/^[\w-]{20,}$/),
      });
      // Somebody else's browser brings nothing.
      expect((await new Browser(w.base).get(back)).status).toBe(400);
      const forged = new URL(back);
      forged.searchParams.set('state', 'x'.repeat(43));
      expect((await browser.get(forged.href)).status).toBe(400);
      const page = await pageOf(await browser.follow(back));
      expect(page.html).toContain('value="allow"');
      expect(idp.tokenRequests).toHaveLength(1);
      expect((await browser.get(back)).status).toBe(400);
      const away = awayFrom(await browser.submit(page, { do: 'allow' }));
      expect(away.searchParams.get('code')).toMatch(/./);
      const grant = await h.db.oauthGrant.findFirstOrThrow({ orderBy: { createdAt: 'desc' } });
      const key = await h.db.apiKey.findUniqueOrThrow({ where: { id: grant.apiKeyId } });
      expect(key.userId).toBe(w.person.userId);
      const users = await h.db.user.count();
      for (const [account, code] of [
        ['unverified', 'unverified_email'],
        ['who@example.com', 'unknown_user'],
      ] as const) {
        const other = new Browser(w.base);
        const refused = await pageOf(await other.follow((await leave(other, account)).back));
        expect(refused.html).toContain(code);
        expect(refused.html).toContain('id="go-on"');
      }
      expect(await h.db.user.count()).toBe(users);
    } finally {
      await close();
    }
  });

  it('are told in words when it is away, lies or refuses, and may log in with a key all the same', async () => {
    const { idp, signer, close } = await provider();
    const browser = new Browser(w.base);
    try {
      const refused = async (change: () => void, code: string) => {
        const { back } = await leave(browser, email);
        change();
        const { html } = await pageOf(await browser.follow(back));
        expect(html, code).toContain(`<p class="small">${code}</p>`);
        expect(html).not.toContain('a secret');
      };
      const { sign } = signer;
      const lie = (claims: object) => () => {
        signer.sign = (said, options) => sign({ ...said, ...claims }, options);
      };
      await refused(lie({ nonce: 'another' }), 'invalid_token_response');
      await refused(lie({ aud: 'another' }), 'invalid_token_response');
      await refused(lie({ iss: 'https://another.example' }), 'invalid_token_response');
      await refused(lie({ exp: 1 }), 'invalid_token_response');
      const stranger = await startIssuer();
      await refused(() => {
        signer.sign = stranger.sign;
      }, 'invalid_token_response');
      await stranger.close();
      signer.sign = sign;
      await refused(() => {
        idp.clients.set('sluice', { secret: 'another', redirectUris: [] });
      }, 'invalid_client');
      const page = await begin(browser);
      await idp.close();
      const organisation = h.first.organisation_id;
      const answer = await browser.submit(page, { do: 'openid', organisation });
      expect(answer.status).toBe(502);
      const told = await pageOf(answer);
      expect(told.html).toContain('Try again later, or log in with a key');
      const goOn = await browser.submit(told, { do: 'login', key: w.person.key });
      expect((await pageOf(goOn)).html).toContain('value="allow"');
      const foreign = await browser.submit(page, {
        do: 'openid',
        organisation: h.other.organisation_id,
      });
      expect(foreign.status).toBeGreaterThanOrEqual(400);
    } finally {
      await close().catch(() => {});
    }
  });
});
