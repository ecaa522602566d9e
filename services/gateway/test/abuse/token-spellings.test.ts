import { generateKeyPairSync } from 'node:crypto';
import { request } from 'node:http';
import { type Issuer, json, startIssuer } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatBody, chatReply, type Scenario, startScenario } from '../scenario.ts';
import { spellingsOf } from '../token-spellings.ts';

let scenario: Scenario;
let issuer: Issuer;
const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' });
beforeAll(async () => {
  [scenario, issuer] = await Promise.all([
    startScenario({
      environment: { gateway: { JWT_ENABLED: 'on' }, 'control-plane': { JWT_ENABLED: 'on' } },
    }),
    startIssuer(),
  ]);
  scenario.upstream.handle(json(200, chatReply));
  issuer.published.push({ ...curve.publicKey.export({ format: 'jwk' }), kid: 'curve' });
  await scenario.admin('PUT', '/admin/organisation/auth-settings', {
    jwt: { jwks_url: issuer.jwksUrl, algorithms: ['RS256', 'ES256'] },
  });
});
afterAll(async () => {
  await scenario?.stop();
  await issuer?.close();
});

const limit = 3;
const sign = (sub: string, options: object = {}) =>
  issuer.sign(
    {
      service_oid: scenario.stack.credentials.organisation_id,
      service_workspace: scenario.stack.credentials.workspace_slug,
      scope: 'completions.write',
      sub,
      rate_limits: [{ type: 'requests', unit: 'rpd', value: limit }],
    },
    options,
  );

/** Over a socket of our own: `fetch` tidies headers. */
function statusOf(headers: Record<string, string>): Promise<number> {
  const body = JSON.stringify(chatBody);
  return new Promise((resolve, reject) => {
    const call = request(
      `${scenario.stack.gatewayUrls[0]}/v1/chat/completions`,
      {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-length': String(body.length),
          'x-service-provider': 'openai',
          'x-service-custom-host': `${scenario.upstream.url}/v1`,
          ...headers,
        },
      },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}

describe('a token with a limit of three requests', () => {
  beforeEach(async () => {
    // The settings have arrived once a token is taken.
    await expect.poll(async () => statusOf({ 'x-service-api-key': await sign('early') })).toBe(200);
  });

  it.each([
    ['RS256', {}],
    ['ES256', { key: curve.privateKey, header: { alg: 'ES256', kid: 'curve' } }],
  ])('of %s is admitted three times in all spellings together', async (alg, options) => {
    const token = await sign(`alice-${alg}`, options);
    const spellings = spellingsOf(token, alg).filter((text) => !/[\n]/.test(text));
    const headers = [
      ...spellings.map((text) => ({ 'x-service-api-key': text })),
      ...['Bearer', 'bearer', 'BEARER', 'Bearer  '].map((scheme) => ({
        authorization: `${scheme} ${token}`,
      })),
      { 'x-service-api-key': `  ${token} ` },
      { 'x-service-api-key': token, authorization: `Bearer ${token}` },
    ] as Record<string, string>[];
    const statuses: number[] = [];
    for (const one of [...headers, ...headers]) statuses.push(await statusOf(one));
    expect(statuses.filter((status) => status === 200)).toHaveLength(limit);
    expect([...new Set(statuses)].sort()).toEqual([200, 401, 429]);
  });
});
