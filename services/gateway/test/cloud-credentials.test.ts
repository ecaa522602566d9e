import { createHash, generateKeyPairSync, verify } from 'node:crypto';
import { Sha256 } from '@sluice/aws-signature';
import { json, type RecordedRequest } from '@sluice/testkit';
import { SignatureV4 } from '@smithy/signature-v4';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf, type Scenario, startScenario } from './scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario({ environment: { gateway: { SIGNED_BODY_BYTES_MAX: '4096' } } });
  scenario.upstream.handle(json(200, {}));
});
afterAll(() => scenario.stop());

/** What the upstream got. */
async function received(
  path: string,
  headers: Record<string, string>,
  body: unknown,
): Promise<RecordedRequest> {
  const count = scenario.upstream.requests.length;
  await scenario.call(path, { headers, body, host: scenario.upstream.url });
  return scenario.upstream.received(count + 1);
}

describe('AWS', () => {
  const headers = {
    'x-service-provider': 'bedrock',
    'x-service-aws-access-key-id': 'AKIDCALLER',
    'x-service-aws-secret-access-key': 'SECRETCALLER',
    'x-service-aws-region': 'eu-central-1',
  };

  /** As AWS checks it: made anew from what arrived. */
  async function expectGenuine(request: RecordedRequest): Promise<void> {
    const authorization = String(request.headers.authorization);
    const names = /SignedHeaders=([^,]+),/.exec(authorization)?.[1]?.split(';') ?? [];
    expect(names).toEqual(['content-type', 'host', 'x-amz-date']);
    const date = String(request.headers['x-amz-date']);
    const signed = await new SignatureV4({
      service: 'bedrock',
      region: 'eu-central-1',
      credentials: { accessKeyId: 'AKIDCALLER', secretAccessKey: 'SECRETCALLER' },
      sha256: Sha256,
      applyChecksum: false,
    }).sign(
      {
        method: request.method,
        protocol: 'http:',
        hostname: '127.0.0.1',
        path: request.path,
        headers: Object.fromEntries(names.map((name) => [name, String(request.headers[name])])),
        body: request.body,
      },
      {
        signingDate: new Date(
          date.replace(
            /^(....)(..)(..T..)(..)(..Z)$/,
            (_, y, m, d, min, s) => `${y}-${m}-${d}:${min}:${s}`,
          ),
        ),
      },
    );
    expect(authorization).toBe(signed.headers.authorization);
    expect(JSON.stringify(request.headers)).not.toContain('SECRETCALLER');
  }

  it('finds its signature right over path, host and bytes as they arrive', async () => {
    const body = {
      model: 'anthropic.claude-3-5-sonnet-20241022-v2:0',
      messages: [{ role: 'user', content: 'Größe' }],
    };
    await expectGenuine(await received('/v1/chat/completions', headers, body));
  });

  it('finds it right on pass-through, without the caller’s own proofs', async () => {
    const request = await received(
      '/v1/proxy/model/a%3A0/invoke',
      { ...headers, authorization: 'Bearer of-the-caller', 'x-api-key': 'of-the-caller' },
      { any: 'thing' },
    );
    await expectGenuine(request);
    expect(JSON.stringify(request.headers)).not.toContain('of-the-caller');
  });

  it('is not called with a body that is too large to be signed', async () => {
    const count = scenario.upstream.requests.length;
    const response = await scenario.call('/v1/proxy/model/a/invoke', {
      headers: { ...headers, 'content-type': 'application/octet-stream' },
      host: scenario.upstream.url,
      rawBody: Buffer.alloc(8192),
    });
    expect([response.status, (await errorOf(response)).code]).toEqual([413, 'request.too_large']);
    expect(scenario.upstream.requests.length).toBe(count);
  });

  it('is not called as this machine by who only holds a key', async () => {
    const count = scenario.upstream.requests.length;
    const response = await scenario.call('/v1/proxy/model/a/invoke', {
      headers: {
        'x-service-provider': 'bedrock',
        'x-service-aws-auth-type': 'serviceRole',
        'x-service-aws-region': 'eu-central-1',
      },
      host: scenario.upstream.url,
      body: {},
    });
    expect([response.status, (await errorOf(response)).code]).toEqual([
      401,
      'provider.authorisation_failed',
    ]);
    expect(scenario.upstream.requests.length).toBe(count);
  });
});

describe('Oracle', () => {
  it('finds its signature right over what arrives', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const request = await received(
      '/v1/proxy/20231130/actions/chat?a=1',
      {
        'x-service-provider': 'oracle',
        'x-service-oracle-tenancy': 'ocid1.tenancy.t',
        'x-service-oracle-user': 'ocid1.user.u',
        'x-service-oracle-fingerprint': '20:3b',
        'x-service-oracle-private-key': pem.replaceAll('\n', '\\n'),
      },
      { any: 'thing' },
    );
    const parts = Object.fromEntries(
      [...String(request.headers.authorization).matchAll(/(\w+)="([^"]*)"/g)].map((match) => [
        match[1],
        match[2],
      ]),
    );
    const lines = String(parts.headers)
      .split(' ')
      .map((name) =>
        name === '(request-target)'
          ? `${name}: post ${request.path}`
          : `${name}: ${request.headers[name]}`,
      );
    const signature = Buffer.from(String(parts.signature), 'base64');
    expect(verify('rsa-sha256', Buffer.from(lines.join('\n')), publicKey, signature)).toBe(true);
    expect(request.headers['x-content-sha256']).toBe(
      createHash('sha256').update(request.body).digest('base64'),
    );
  });
});

describe('Google', () => {
  it('gets an access token as it is', async () => {
    const request = await received(
      '/v1/proxy/v1/projects/p/locations/l/endpoints',
      { 'x-service-provider': 'vertex-ai', authorization: 'Bearer ya29.token' },
      {},
    );
    expect(request.headers.authorization).toBe('Bearer ya29.token');
  });

  it('is not called with a service account that cannot be read', async () => {
    const response = await scenario.call('/v1/proxy/v1/x', {
      headers: {
        'x-service-provider': 'vertex-ai',
        'x-service-vertex-service-account-json': 'not JSON',
      },
      host: scenario.upstream.url,
      body: {},
    });
    expect([response.status, (await errorOf(response)).code]).toEqual([
      400,
      'provider.setting_invalid',
    ]);
  });
});
