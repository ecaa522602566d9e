import supertest, { type Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const get = (path: string) => supertest(`http://127.0.0.1:${h.service.httpPort}`).get(path);

describe('GET /v1/openapi.json', () => {
  it('answers without a key, and names the header that takes one', async () => {
    const { body } = await get('/v1/openapi.json').expect(200).expect('content-type', /json/);
    expect(body.openapi).toMatch(/^3\.1\./);
    expect(body.components.securitySchemes['Service-Key']).toEqual({
      type: 'apiKey',
      in: 'header',
      name: 'x-service-api-key',
    });
  });

  it('says of an operation who may call it, and what it refuses with', async () => {
    const { body } = await get('/v1/openapi.json');
    const create = body.paths['/configs'].post;
    expect(create['x-required-scopes']).toEqual(['configs.create']);
    expect(create['x-key-types']).toContain('workspace-service');
    expect(create.requestBody.required).toBe(true);
    expect(Object.keys(create.responses)).toEqual([
      '200',
      '400',
      '401',
      '403',
      '404',
      '409',
      '413',
      '422',
      '429',
      '500',
      '503',
      'default',
    ]);
    expect(body.paths['/api-keys/{id}/rotate'].post.requestBody.required).toBe(false);
  });

  it('has paths at the root under a server of their own, and needs no key for price lists', async () => {
    const { body } = await get('/v1/openapi.json');
    const prices = body.paths['/model-configs/pricing/{provider}/{model}'];
    expect(prices.servers).toEqual([{ url: '/' }]);
    expect(prices.get.security).toEqual([]);
    expect(body.servers).toEqual([{ url: '/v1' }]);
  });
});

it('answers what is at the root below /v1 as well: generated clients know one address', async () => {
  await get('/v1/model-configs/pricing/openai/gpt-4o').expect(200);
  const { body } = await get('/v1/v0.1/servers').expect(401);
  expect(body.data.code).toBe('auth.missing_key');
});

describe('GET /docs', () => {
  it('loads what it needs from where it came from, and nothing else', async () => {
    const { text } = await get('/docs').expect(200).expect('content-type', /html/);
    const addresses = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address);
    const loaded = addresses.filter((address) => address !== 'data:,');
    expect(loaded).toHaveLength(3);
    const answers: Response[] = [];
    for (const address of loaded) {
      expect(address).toMatch(/^\/docs\/[\w.-]+$/);
      answers.push(
        await get(address ?? '')
          .expect(200)
          .expect('content-type', /javascript|css/),
      );
    }
    expect(text).not.toMatch(/https?:/);
    const [style = '', , start = ''] = answers.map((answer) => answer.text);
    const urls = [...style.matchAll(/url\(["']?([^"')]*)/g)].map(([, url = '']) => url);
    expect(urls.filter((url) => !url.startsWith('data:'))).toEqual([]);
    expect(style).not.toContain('@import');
    expect(start).toContain("url: '/v1/openapi.json'");
  });

  it('may run and reach nothing but its own', async () => {
    const { headers } = await get('/docs');
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toMatch(/^default-src 'none'; script-src 'self';/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });

  it('is where /v1/docs leads', async () => {
    await get('/v1/docs').expect(302).expect('location', '/docs');
  });

  it('serves nothing of the folder its files are in', async () => {
    for (const path of ['/docs/package.json', '/docs/..%2fpackage.json', '/docs/index.html'])
      await get(path).expect(404);
  });
});
