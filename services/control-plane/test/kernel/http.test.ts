import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { forwardedCallerSeal } from '@sluice/contracts';
import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const raw = (body: string | Buffer, type = 'application/json') =>
  h
    .as(h.first.workspace_key)
    .post('/configs')
    .set('content-type', type)
    .send(body as string);

const modelInFull = {
  slug: 'gpt-4o',
  enabled: true,
  is_custom: true,
  is_finetune: false,
  base_model_slug: 'gpt-4o',
  configurations: { custom_host: null, custom_headers: null },
  pricing_config: {
    type: 'static',
    pay_as_you_go: { request_token: { price: 0.01 }, response_token: { price: 0.01 } },
  },
};

describe('a connection', () => {
  // A gateway keeps one for half a minute: closed as it sends on it, a change would be lost that nobody may send again.
  it('that is idle is kept longer than whoever comes keeps it', async () => {
    const { headers } = await h.as(h.first.admin_key).get('/api-keys');
    expect(headers['keep-alive']).toBe('timeout=75');
  });
});

describe('bad input', () => {
  it.each([
    ['malformed JSON', '{"name": ', 400, 'request.malformed_json'],
    ['nothing', '', 400, 'admin.validation'],
    ['a number', '5', 400, 'admin.validation'],
    ['null', 'null', 400, 'admin.validation'],
    ['a list', '[]', 400, 'admin.validation'],
    ['nesting without end', '['.repeat(200_000), 400, 'request.too_deep'],
    [
      'more than a megabyte',
      JSON.stringify({ name: 'x'.repeat(1024 * 1024) }),
      413,
      'request.too_large',
    ],
    // As many as a list may have, each with all its fields: nobody has parsed them yet.
    [
      'more values than are taken at once',
      JSON.stringify({ models: Array.from({ length: 2_000 }, () => modelInFull) }),
      413,
      'request.too_many_values',
    ],
    ['NUL in text', '{"name":"a\\u0000b","config":{}}', 400, 'admin.validation'],
    ['half a character', '{"name":"a\\ud800b","config":{}}', 400, 'admin.validation'],
    [
      'a poisoned prototype',
      '{"name":"x","config":{"__proto__":{"a":1}}}',
      400,
      'admin.validation',
    ],
  ])('%s is refused by code', async (_case, body, status, code) => {
    const answer = await raw(body);
    expect([answer.status, answer.body.data?.code]).toEqual([status, code]);
    expect(answer.body.data.request_id).toBe(answer.headers['x-service-request-id']);
    // What vendors’ SDKs show of an answer.
    expect(answer.headers['x-request-id']).toBe(answer.headers['x-service-request-id']);
  });

  it('takes JSON under any content type, and refuses unknown encodings', async () => {
    await raw(
      '{"name":"form","config":{"provider":"@demo"}}',
      'application/x-www-form-urlencoded',
    ).expect(200);
    const answer = await raw('{}').set('content-encoding', 'zip');
    expect([answer.status, answer.body.data.code]).toEqual([
      400,
      'request.unsupported_content_type',
    ]);
  });

  it('refuses broken addresses and repeated parameters', async () => {
    const get = h.as(h.first.workspace_key).get;
    expect((await get('/configs/%E0%A4%A')).status).toBe(400);
    expect((await get('/configs/%00')).status).toBe(400);
    expect((await get('/api-keys?page_size=1&page_size=2')).status).toBe(400);
    expect((await get('/api-keys?page_size=1e3')).status).toBe(400);
  });

  it('answers unknown routes with 404 in the admin envelope', async () => {
    for (const path of ['/nothing', '/configs/a/b/c', '/api-keys/planet/service'])
      expect((await h.as(h.first.admin_key).post(path, { name: 'x' })).body).toMatchObject({
        success: false,
        data: { errorCode: 'AB08' },
      });
  });

  it('survives a caller that leaves in the middle of its body', async () => {
    const socket = connect(h.service.httpPort, '127.0.0.1');
    socket.write(
      `POST /v1/configs HTTP/1.1\r\nhost: x\r\nx-service-api-key: ${h.first.workspace_key}\r\ncontent-length: 100\r\n\r\n{"na`,
    );
    await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    await h.as(h.first.workspace_key).get('/configs').expect(200);
  });
});

describe('addresses and request ids', () => {
  const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

  async function entryOf(headers: Record<string, string>) {
    const answer = await h
      .as(h.first.workspace_key)
      .post('/configs', { name: 'x', config: { provider: '@demo' } })
      .set(headers);
    const requestId = answer.headers['x-service-request-id'] ?? '';
    expect(requestId).toMatch(uuid);
    const entry = await h.db.auditEntry.findFirstOrThrow({ where: { requestId } });
    return { ...entry, headers: JSON.parse(entry.requestHeaders) as Record<string, string> };
  }

  it('are not believed from loopback, where anything that a gateway calls for a caller is', async () => {
    const forged = forwardedCallerSeal('a token that a stranger guesses');
    const entry = await entryOf({
      'x-forwarded-for': '6.6.6.6, 203.0.113.9',
      'x-service-request-id': 'chosen-by-caller',
      'x-sluice-forwarded-caller': forged.sign(stated, Date.now()),
    });
    expect(entry.clientIp).toBe('127.0.0.1');
    expect(entry.requestId).not.toBe('chosen-by-caller');
  });

  it('are believed from a gateway, whose statement no audit entry repeats', async () => {
    const sealed = forwardedCallerSeal(h.env.SERVICE_CLIENT_AUTH).sign(stated, Date.now());
    const entry = await entryOf({ 'x-sluice-forwarded-caller': sealed });
    expect([entry.clientIp, entry.requestId]).toEqual([stated.address, stated.requestId]);
    expect(JSON.stringify(entry.headers)).not.toContain(sealed.slice(0, 20));
  });

  it('keep an id that the caller chose as their trace, when it is a name', async () => {
    const kept = await entryOf({ 'x-service-request-id': 'run-42:a.b' });
    expect(kept.headers).toMatchObject({ 'x-service-trace-id': 'run-42:a.b' });
    expect(kept.headers).not.toHaveProperty('x-service-request-id');
    for (const name of ['x'.repeat(129), '<b>', "'; --"])
      expect((await entryOf({ 'x-service-trace-id': name })).headers).not.toHaveProperty(
        'x-service-trace-id',
      );
  });

  const stated = {
    address: '203.0.113.9',
    host: 'sluice.example',
    proto: 'https',
    requestId: '0197b1b0-1111-7222-8333-000000000000',
  } as const;
});

describe('header prefixes', () => {
  it('an alias names the key and the request, and comes back beside ours', async () => {
    const answer = await supertest(`http://127.0.0.1:${h.service.httpPort}/v1`)
      .get('/configs')
      .set('x-portkey-api-key', h.first.workspace_key)
      .set('x-portkey-request-id', 'chosen-by-caller')
      .expect(200);
    expect(answer.headers['x-portkey-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.headers['x-service-request-id']).toBe(answer.headers['x-portkey-request-id']);
  });

  it('one that is not set is nobody’s', async () => {
    const answer = await supertest(`http://127.0.0.1:${h.service.httpPort}/v1`)
      .get('/configs')
      .set('x-acme-api-key', h.first.workspace_key)
      .expect(401);
    expect(answer.headers).not.toHaveProperty('x-acme-request-id');
    expect(answer.headers).not.toHaveProperty('x-portkey-request-id');
  });
});

describe('health and metrics', () => {
  const base = () => supertest(`http://127.0.0.1:${h.service.httpPort}`);

  it('answer without a key', async () => {
    for (const path of ['/health', '/health/live', '/health/ready'])
      await base().get(path).expect(200, /ok/);
    const metrics = await supertest(`http://127.0.0.1:${h.service.metricsPort}`).get('/metrics');
    expect(metrics.text).toContain('sluice_admin_request_duration_seconds_count{');
    expect(metrics.text).toContain('sluice_admin_requests_total{');
    await base().get('/metrics').expect(404);
  });

  it('carry protective headers and no maker’s name', async () => {
    const { headers } = await base().get('/health');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers).not.toHaveProperty('x-powered-by');
  });

  it('cut a request whose headers never end', async () => {
    const socket = connect(h.service.httpPort, '127.0.0.1');
    socket.end('GET / HTTP/1.1\r\nhost: x\r\n');
    expect(await text(socket)).toMatch(/^(HTTP\/1.1 400|$)/);
  });
});
