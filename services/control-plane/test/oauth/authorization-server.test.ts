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
