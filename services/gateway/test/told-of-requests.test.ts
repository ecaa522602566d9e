import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import type { usage } from '@sluice/proto-stubs';
import {
  eventually,
  freshName,
  hang,
  json,
  sequence,
  slowHeaders,
  sse,
  testCertificate,
} from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DnsServer, startDns } from './outbound/dns-server.ts';
import { type Records, readRecords } from './records.ts';
import { type CallOptions, chatBody, chatReply, type Scenario, startScenario } from './scenario.ts';

/** What a request leaves in the ledger, and what its reply says of it. */
let scenario: Scenario;
let records: Records;
let dns: DnsServer;
const selfSigned = createHttpsServer({
  key: testCertificate('self-signed-key'),
  cert: testCertificate('self-signed'),
});
const resetting = createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
let portNobodyHas = 0;
const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;

beforeAll(async () => {
  for (const server of [selfSigned, resetting])
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const gone = createTcpServer();
  await new Promise<void>((ready) => gone.listen(0, '127.0.0.1', ready));
  portNobodyHas = portOf(gone);
  await new Promise((done) => gone.close(done));
  dns = await startDns(() => []);
  scenario = await startScenario({
    promptLedger: true,
    nats: true,
    environment: { gateway: { DNS_SERVERS: `127.0.0.1:${dns.port}` } },
  });
  records = await readRecords(scenario.stack.nats?.url ?? '');
});
afterAll(async () => {
  await records.close();
  await scenario.stop();
  dns.close();
  for (const server of [selfSigned, resetting]) server.close();
});

/** @param count of its records; as many as the reply says there were attempts, where it is left out */
async function told(options: CallOptions, count?: number) {
  const response = await scenario.chat(options);
  const body = await response.text();
  const header = (name: string) => response.headers.get(name);
  const expected = count ?? Number(header('x-service-attempts'));
  const of = await records.of(header('x-service-request-id') ?? '', expected);
  return { status: response.status, body, header, records: of };
}

/** What the log says of a request. */
function lineOf(id: string | null): Promise<Record<string, unknown>> {
  return eventually(() => {
    const line = scenario.stack
      .part('gateway')
      .stderr()
      .split('\n')
      .find((text) => text.includes('"msg":"request"') && text.includes(`"request_id":"${id}"`));
    if (line === undefined) throw new Error('there is no line yet');
    return JSON.parse(line) as Record<string, unknown>;
  });
}

const retrying = (attempts: number, over: object = {}) => ({
  'x-service-config': JSON.stringify({ retry: { attempts }, ...over }),
});

const idOf = ({ id, entryId }: usage.UsageRecord) =>
  Buffer.from(entryId.length === 0 ? id : entryId).toString('hex');

describe('the records of a request', () => {
  it('share an entry for each target with its retries, and the time at which the request arrived', async () => {
    scenario.upstream.handle(
      sequence(json(503, {}), json(503, {}), json(503, {}), json(200, chatReply)),
    );
    const target = {
      provider: 'openai',
      api_key: 'sk',
      custom_host: `${scenario.upstream.url}/v1`,
    };
    const config = {
      strategy: { mode: 'fallback', on_status_codes: [503] },
      targets: [
        { ...target, retry: { attempts: 1 } },
        { ...target, retry: { attempts: 1 } },
      ],
    };
    const { records: all, header } = await told(
      { host: null, headers: { 'x-service-config': JSON.stringify(config) } },
      4,
    );
    expect(all.map(({ statusCode }) => statusCode)).toEqual([503, 503, 503, 200]);
    const [a, b, c, d] = all.map(idOf);
    expect([a, c]).toEqual([b, d]);
    expect(a).not.toBe(c);
    expect(new Set(all.map(({ createdAtMs }) => createdAtMs)).size).toBe(1);
    expect(header('x-service-attempts')).toBe('4');
    for (const one of all) {
      expect(one.attemptMs).toBeGreaterThan(0);
      expect(one.entryMs).toBeGreaterThanOrEqual(one.attemptMs);
      expect(one.latencyMs).toBeGreaterThanOrEqual(one.entryMs);
    }
    expect(all[1]?.entryMs).toBeGreaterThanOrEqual(
      (all[0]?.attemptMs ?? 0) + (all[1]?.attemptMs ?? 0),
    );
  });

  it('tell what the gateway took, which client asked, and which gateway it was', async () => {
    scenario.upstream.handle(json(200, chatReply));
    const { records: all } = await told(
      {
        headers: {
          'x-stainless-runtime': 'node',
          'x-stainless-runtime-version': 'v24.1.0',
          'x-stainless-package-version': '6'.repeat(200),
        },
      },
      1,
    );
    expect(all).toMatchObject([
      {
        runtime: 'node',
        runtimeVersion: 'v24.1.0',
        sdkVersion: '6'.repeat(64),
        gatewayVersion: '0.1.0',
        cacheProcessingMs: 0,
        failureCause: '',
      },
    ]);
    const { requestParsingMs, preProcessingMs, responseParsingMs, latencyMs, attemptMs } =
      all[0] as usage.UsageRecord;
    for (const part of [requestParsingMs, preProcessingMs, responseParsingMs])
      expect(part).toBeGreaterThan(0);
    expect(requestParsingMs + preProcessingMs + attemptMs).toBeLessThanOrEqual(latencyMs + 0.001);

    const plain = await told({ headers: { 'user-agent': 'curl/8.5.0 (any) x/1' } }, 1);
    expect(plain.records).toMatchObject([{ runtime: 'curl', runtimeVersion: '8.5.0' }]);
  });

  it('tell what the reply and the log tell, also where limits count less, since the address is the caller’s', async () => {
    // Asked for what has no price, and answered by a model that has one: 0.0105 dollars, of which no limit hears.
    scenario.upstream.handle(json(200, { ...chatReply, model: 'gpt-4o' }));
    const { records: all, header } = await told(
      { body: { ...chatBody, model: 'no-such-model' } },
      1,
    );
    expect(Number(all[0]?.costNanoUsd)).toBeGreaterThan(0);
    expect(header('x-service-cost')).toBe(String(Number(all[0]?.costNanoUsd) / 1e7));
    const line = await lineOf(header('x-service-request-id'));
    expect(line.cost_nano_usd).toBe(Number(all[0]?.costNanoUsd));
  });

  it('name the cache that answered', async () => {
    scenario.upstream.handle(json(200, chatReply));
    const body = { ...chatBody, user: 'of the cache' };
    const headers = { 'x-service-config': JSON.stringify({ cache: { mode: 'simple' } }) };
    await told({ body, headers }, 1);
    const { records: all, header } = await told({ body, headers }, 1);
    expect(all).toMatchObject([{ cacheStatus: 'HIT', cacheType: 'simple', attemptMs: 0 }]);
    expect(all[0]?.cacheProcessingMs).toBeGreaterThan(0);
    expect([header('x-service-cost'), header('x-service-attempts')]).toEqual(['0', '0']);
  });

  // Side by side: a try that failed is tried again after a second.
  it.concurrent.each([
    ['dns', 'http://nowhere.example.com/v1', 503, 'its name was not found'],
    ['refused', () => `http://127.0.0.1:${portNobodyHas}/v1`, 503, 'it refused the connection'],
    [
      'tls_self_signed',
      () => `https://localhost:${portOf(selfSigned)}/v1`,
      503,
      'signed by itself',
    ],
    ['reset', () => `http://127.0.0.1:${portOf(resetting)}/v1`, 502, 'reset the connection'],
    ['timeout', () => `${scenario.upstream.url}/v1`, 408, '300 ms'],
  ])('and its reply say why nobody answered: %s', async (failureCause, host, status, words) => {
    scenario.upstream.handle(hang());
    // All others fail by themselves, however busy the machine is.
    const timeoutMs = failureCause === 'timeout' ? '300' : '20000';
    const url = typeof host === 'string' ? host : host();
    const answer = await told({
      host: url,
      headers: { 'x-service-request-timeout': timeoutMs, ...retrying(1) },
    });
    expect(answer.status).toBe(status);
    expect(answer.body).toContain(words);
    expect(answer.body).not.toContain(new URL(url).host);
    for (const one of answer.records) expect(one.failureCause).toBe(failureCause);
    expect(answer.header('x-service-attempts')).toBe(String(answer.records.length));
  });

  it('say why an answer was not told to its end', async () => {
    const events = [{ choices: [{ index: 0, delta: { content: 'Hi' } }] }, '[DONE]'];
    scenario.upstream.handle(sse(events, { cutAfter: 1 }));
    const { records: all, header } = await told({ body: { ...chatBody, stream: true } }, 1);
    expect(all).toMatchObject([{ errorCode: 'upstream.stream_cut', responseParsingMs: 0 }]);
    expect(['reset', 'closed']).toContain(all[0]?.failureCause);
    const line = await lineOf(header('x-service-request-id'));
    expect(line).toMatchObject({ status: 200, error_code: 'upstream.stream_cut' });
  });

  it('and their line in the log name the error of an answer that passes as the provider gave it', async () => {
    scenario.upstream.handle(json(429, { error: { message: 'slower' } }));
    const refused = await told({}, 1);
    expect(refused.records).toMatchObject([{ errorCode: 'upstream.error' }]);
    expect(await lineOf(refused.header('x-service-request-id'))).toMatchObject({
      status: 429,
      error_code: 'upstream.error',
    });
    scenario.upstream.handle(sequence(json(500, {}), json(200, chatReply)));
    const mended = await told({ headers: retrying(1) }, 2);
    expect(await lineOf(mended.header('x-service-request-id'))).not.toHaveProperty('error_code');
  });
});

describe('a reply', () => {
  it('says what it cost in US cents, which provider was asked and under which id it can be looked up', async () => {
    scenario.upstream.handle(json(200, chatReply, { 'x-request-id': 'req_of_the_provider' }));
    const { header, records: all } = await told({}, 1);
    expect(Number(header('x-service-cost'))).toBeCloseTo(Number(all[0]?.costNanoUsd) / 1e7, 7);
    expect(Number(header('x-service-cost'))).toBeGreaterThan(0);
    expect(header('x-service-provider-slug')).toBeNull();
    expect(header('x-request-id')).toBe(header('x-service-request-id'));
    expect(header('x-service-upstream-request-id')).toBe('req_of_the_provider');
    expect(header('request-id')).toBeNull();
  });

  it('of a saved provider names it, also when it is an error', async () => {
    const headers = { 'x-service-provider': '@demo' };
    const good = await told({ host: null, headers }, 1);
    expect([good.status, good.header('x-service-provider-slug')]).toEqual([200, 'demo']);
    const config = { provider: '@demo', custom_host: `http://127.0.0.1:${portNobodyHas}/v1` };
    const bad = await told(
      { host: null, headers: { 'x-service-config': JSON.stringify(config) } },
      1,
    );
    expect(bad.status).toBeGreaterThanOrEqual(400);
    expect(bad.header('x-service-provider-slug')).toBe('demo');
    expect(bad.header('x-request-id')).toBe(bad.header('x-service-request-id'));
  });

  it('to an Anthropic client has the id under the name that it reads', async () => {
    const response = await scenario.call('/v1/messages', { rawBody: '{' });
    await response.text();
    expect(response.status).toBe(400);
    expect(response.headers.get('request-id')).toBe(response.headers.get('x-service-request-id'));
  });

  it('whose cost lacks what has no price says so, as do its record, its log and the graph of costs', async () => {
    scenario.upstream.handle(
      json(200, {
        id: 'resp_1',
        object: 'response',
        model: 'gpt-4o-mini',
        status: 'completed',
        output: [{ type: 'code_interpreter_call', container_id: 'cntr_1' }],
        usage: { input_tokens: 1000, output_tokens: 500, total_tokens: 1500 },
      }),
    );
    const body = { model: 'gpt-4o-mini', input: 'Add up.' };
    const response = await scenario.call('/v1/responses', { body });
    await response.text();
    const id = response.headers.get('x-service-request-id') ?? '';
    const [record] = await records.of(id, 1);
    expect(Number(response.headers.get('x-service-cost'))).toBeGreaterThan(0);
    expect(response.headers.get('x-service-unpriced-units')).toBe('code_execution');
    expect(record).toMatchObject({ costKnown: true, unpricedUnits: 'code_execution' });

    const unpriced = { unpriced_units: ['code_execution'] };
    await eventually(async () => {
      const request = await scenario.admin('GET', `/requests/${id}`);
      expect(request).toMatchObject({ attempts: [unpriced] });
    });
    const query = new URLSearchParams({
      time_of_generation_min: new Date(Date.now() - 600_000).toISOString(),
      time_of_generation_max: new Date(Date.now() + 60_000).toISOString(),
      workspace_slug: scenario.stack.credentials.workspace_slug,
    });
    const logs = await scenario.admin<{ data: object[] }>('GET', `/logs?${query}&page_size=100`);
    expect(logs.data.filter((log) => JSON.stringify(log).includes(id))).toMatchObject([
      { metrics: unpriced },
    ]);
    const { summary } = await scenario.admin<{ summary: object }>(
      'GET',
      `/analytics/graphs/cost?${query}`,
    );
    expect(summary).toMatchObject({ unpriced: 1 });
  });

  it.each([
    ['of known prices', ['gpt-4o-mini', 'gpt-4o-mini'], 200],
    ['of which the first has no price', ['nobodys-model', 'gpt-4o-mini'], 200],
    ['of which the last has that of the model that answered', ['gpt-4o-mini', 'a-name'], 200],
    ['that both fail', ['gpt-4o-mini', 'gpt-4o-mini'], 502],
    ['that both fail, one without a price', ['nobodys-model', 'gpt-4o-mini'], 502],
  ] as const)(
    'tells what calls %s cost together, as the ledger does, or nothing',
    async (_calls, models, status) => {
      // What cannot be read was paid for: the prompt, by an estimate.
      const unread = json(200, 'no completion');
      scenario.upstream.handle(sequence(unread, status === 200 ? json(200, chatReply) : unread));
      const targets = models.map((model) => ({
        provider: 'openai',
        api_key: 'sk',
        custom_host: `${scenario.upstream.url}/v1`,
        override_params: { model },
      }));
      const config = { strategy: { mode: 'fallback' }, targets };
      const answer = await told(
        { host: null, headers: { 'x-service-config': JSON.stringify(config) } },
        2,
      );
      expect(answer.status).toBe(status);
      const { cost } = await eventually(async () => {
        const request = await requestOf(answer.header('x-request-id') ?? '');
        expect(request.attempts).toHaveLength(2);
        return request;
      });
      const header = answer.header('x-service-cost');
      expect(header === null ? null : Number(header)).toBe(cost);
      expect(cost === null).toBe(models[0] === 'nobodys-model');
    },
  );

  it('that is a stream has no cost yet', async () => {
    const events = [{ choices: [{ index: 0, delta: { content: 'Hi' } }] }, '[DONE]'];
    scenario.upstream.handle(sse(events));
    const { header } = await told({ body: { ...chatBody, stream: true } }, 1);
    expect([header('x-service-cost'), header('x-service-attempts')]).toEqual([null, '1']);
  });
});

interface Told {
  status_code: number;
  id: string;
  error?: { code: string; cause?: string; message?: string };
  cost: number | null;
  attempts: {
    outcome: string;
    status_code: number;
    log_id: string;
    cache_status: string;
    error?: { code: string; cause?: string };
  }[];
  decision: { mode: string; choices: unknown[] } | null;
}

/** What is told of a request, at latest two seconds after its end. */
async function requestOf(id: string, key = scenario.stack.credentials.admin_key): Promise<Told> {
  return eventually(async () => {
    const response = await scenario.call(`/v1/requests/${id}`, {
      method: 'GET',
      host: null,
      key,
    });
    const body = await response.json();
    if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(body)}`);
    return body as Told;
  });
}

async function toldOf(options: CallOptions): Promise<Told> {
  const response = await scenario.chat(options);
  await response.text().catch(() => '');
  return requestOf(response.headers.get('x-request-id') ?? '');
}

describe('GET /v1/requests/{id}', () => {
  it('says that what was reported could not be true, and that an estimate was billed', async () => {
    const usage = { prompt_tokens: 1e300, completion_tokens: 5, total_tokens: 1e300 };
    scenario.upstream.handle(json(200, { ...chatReply, usage }));
    const { attempts } = await toldOf({});
    expect(attempts).toMatchObject([{ usage_implausible: true, usage_estimated: true }]);
    scenario.upstream.handle(json(200, chatReply));
    expect((await toldOf({})).attempts).toMatchObject([{ usage_implausible: false }]);
  });

  const target = (host: string) => ({ provider: 'openai', api_key: 'sk', custom_host: host });
  const inOrder = (...hosts: string[]) => ({
    host: null,
    headers: {
      'x-service-config': JSON.stringify({
        strategy: { mode: 'fallback' },
        targets: hosts.map(target),
      }),
    },
  });
  const good = () => `${scenario.upstream.url}/v1`;
  const bad = () => `http://127.0.0.1:${portNobodyHas}/v1`;

  it('tells which targets failed before, with what, and what the request came to', async () => {
    scenario.upstream.handle(json(200, chatReply));
    const request = await toldOf(inOrder(bad(), good()));
    expect(request).toMatchObject({
      status_code: 200,
      decision: { mode: 'fallback' },
      attempts: [
        { status_code: 503, error: { code: 'upstream.unreachable', cause: 'refused' } },
        { status_code: 200, outcome: 'success' },
      ],
    });
    expect(request.cost).toBeGreaterThan(0);
    expect(request).not.toHaveProperty('error');
  });

  it('tells a cut stream, and that a kept answer cost nothing', async () => {
    const events = [{ choices: [{ index: 0, delta: { content: 'Hi' } }] }, '[DONE]'];
    scenario.upstream.handle(sse(events, { cutAfter: 1 }));
    const stream = await toldOf({ body: { ...chatBody, stream: true } });
    expect(stream).toMatchObject({
      error: { code: 'upstream.stream_cut' },
      attempts: [{ outcome: 'partial' }],
    });
    scenario.upstream.handle(json(200, chatReply));
    const headers = { 'x-service-config': JSON.stringify({ cache: { mode: 'simple' } }) };
    const body = { ...chatBody, user: 'of the request' };
    await toldOf({ body, headers });
    expect(await toldOf({ body, headers })).toMatchObject({
      cost: 0,
      attempts: [{ cache_status: 'HIT' }],
    });
  });

  it('tells both calls of a hedge, and by which the caller was answered', async () => {
    scenario.upstream.handle(
      sequence(slowHeaders(3000, json(200, chatReply)), json(200, chatReply)),
    );
    const config = { ...target(good()), hedge: { delay: 100, budget_percentage: 100 } };
    const response = await scenario.chat({
      host: null,
      headers: { 'x-service-config': JSON.stringify(config) },
    });
    await response.text();
    const request = await requestOf(response.headers.get('x-request-id') ?? '');
    expect(request.status_code).toBe(200);
    expect(request.attempts.map(({ error }) => error?.code).toSorted()).toEqual([
      'request.superseded',
      undefined,
    ]);
    expect(new Set(request.attempts.map(({ log_id }) => log_id)).size).toBe(1);
  });

  it.each([
    ['a body that is none', { rawBody: '{' }, 400, 'request.malformed_json'],
    ['a model of no provider', { host: null }, 400, 'provider.missing'],
    [
      'a denied input',
      () => ({
        headers: {
          'x-service-config': JSON.stringify({
            input_guardrails: [{ 'default.regexMatch': { rule: 'Hello', not: true }, deny: true }],
          }),
        },
      }),
      446,
      'guardrail.denied',
    ],
  ])('tells why it was refused: %s', async (_name, options, status, code) => {
    const request = await toldOf(typeof options === 'function' ? options() : options);
    expect(request).toMatchObject({ status_code: status, error: { code }, attempts: [{}] });
  });

  it('is for the key that made it and for those who may see logs, and for nobody else', async () => {
    scenario.upstream.handle(json(200, chatReply));
    const { credentials } = scenario.stack;
    const key = async (scopes: string[]) => {
      const made = await scenario.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
        name: scopes.join(),
        workspace_id: credentials.workspace_id,
        scopes,
      });
      return made.key;
    };
    const [caller, other, reader] = await Promise.all([
      key(['completions.write']),
      key(['completions.write']),
      key(['logs.view']),
    ]);
    const response = await scenario.chat({ key: caller });
    await response.text();
    const id = response.headers.get('x-request-id') ?? '';
    for (const allowed of [caller, reader, credentials.admin_key]) await requestOf(id, allowed);
    for (const path of [`/v1/requests/${id}`, `/v1/requests/${id}x`]) {
      const refused = await scenario.call(path, { method: 'GET', host: null, key: other });
      expect(refused.status).toBe(404);
    }
  });
});

describe('GET /v1/traces/{id}', () => {
  it('shows the requests of a trace, each below the one around it, to those who may see them', async () => {
    scenario.upstream.handle(json(200, chatReply));
    const name = freshName('a run of an agent');
    const ask = async (span: string, parent?: string) => {
      const response = await scenario.chat({
        headers: {
          'x-service-trace-id': name,
          'x-service-span-id': span,
          ...(parent !== undefined && { 'x-service-parent-span-id': parent }),
        },
      });
      await response.text();
      const id = response.headers.get('x-request-id') ?? '';
      await requestOf(id);
      return id;
    };
    const outer = await ask('plan');
    const [other, inner] = [await ask('other'), await ask('tool', 'plan')];
    const { credentials } = scenario.stack;
    const trace = await scenario.admin<{
      cost: number;
      requests: { id: string; depth: number; parent_request_id: string | null }[];
    }>('GET', `/traces/${encodeURIComponent(name)}`);
    expect(trace.requests).toMatchObject([
      { id: outer, depth: 0, parent_request_id: null },
      { id: inner, depth: 1, parent_request_id: outer },
      { id: other, depth: 0, parent_request_id: null },
    ]);
    expect(trace.cost).toBeGreaterThan(0);
    const { key } = await scenario.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
      name: 'of nobody here',
      workspace_id: credentials.workspace_id,
      scopes: ['completions.write'],
    });
    const path = `/v1/traces/${encodeURIComponent(name)}`;
    const refused = await scenario.call(path, { method: 'GET', host: null, key });
    expect(refused.status).toBe(404);
  });
});

describe('GET /v1/logs', () => {
  it('lists what was asked, and each can be looked at', async () => {
    scenario.upstream.handle(json(200, chatReply));
    const trace_id = freshName('a-trace-to-find');
    const response = await scenario.chat({ headers: { 'x-service-trace-id': trace_id } });
    await response.text();
    await requestOf(response.headers.get('x-request-id') ?? '');
    const range = {
      time_of_generation_min: new Date(Date.now() - 60_000).toISOString(),
      time_of_generation_max: new Date(Date.now() + 60_000).toISOString(),
      trace_id,
    };
    type Log = { _id: string; metrics: Record<string, unknown> };
    const page = await scenario.admin<{ total: number; data: Log[] }>(
      'GET',
      `/logs?${new URLSearchParams(range)}`,
    );
    expect(page.total).toBe(1);
    const log = await scenario.admin<Log>('GET', `/logs/${page.data[0]?._id}`);
    expect(log).toEqual({ ...page.data[0], content: 'not-kept' });
    expect(log.metrics).toMatchObject({
      trace_id,
      req_units: 1000,
      res_units: 500,
      response_status_code: 200,
      cost: Number(response.headers.get('x-service-cost')),
    });
  });
});

describe('POST /v1/simulate', () => {
  it('replays what the ledger has, whatever was said and corrected since, and counts apart what it cannot decide', async () => {
    scenario.upstream.handle(json(200, chatReply));
    const since = new Date().toISOString();
    const told: Told[] = [];
    const judgedTrace = freshName('judged');
    for (const trace of [judgedTrace, 'corrected', 'plain'])
      told.push(await toldOf({ headers: { 'x-service-trace-id': trace } }));
    const { workspace_id, workspace_key } = scenario.stack.credentials;
    const judged = await scenario.call('/v1/feedback', {
      host: null,
      key: workspace_key,
      body: { trace_id: judgedTrace, value: 5 },
    });
    expect(judged.status).toBe(200);
    const record_id = told[1]?.attempts[0]?.log_id;
    await scenario.admin('POST', '/ledger/adjustments', { record_id, reason: 'a test', cost: 10 });
    await eventually(async () => {
      type Log = { metrics: { cost: number } };
      const { metrics } = await scenario.admin<Log>('GET', `/logs/${record_id}`);
      expect(metrics.cost).toBeGreaterThan(10);
    });

    const simulate = (change: object) =>
      scenario.admin('POST', '/simulate', {
        workspace_id,
        time_of_generation_min: since,
        time_of_generation_max: new Date(Date.now() + 1000).toISOString(),
        ...change,
      });
    const gpt4o = { provider: 'openai', override_params: { model: 'gpt-4o' } };
    // A thousand tokens in, five hundred out: 0.15 and 0.60 dollars a million, and 2.50 and 10.
    const [atMini, atFull] = [450_000, 7_500_000];
    const limit = {
      conditions: [{ key: 'workspace_id', value: '*' }],
      group_by: [{ key: 'api_key' }],
      type: 'requests',
      unit: 'rpd',
      value: 2,
    };
    const changed = await simulate({ config: gpt4o, rate_limits: [limit] });
    expect(changed).toMatchObject({
      is_complete: true,
      requests: { replayed: 3, rerouted: 2, refused: 1, undecided: 0 },
      cost: { before_nano_usd: 3 * atMini, after_nano_usd: 2 * atFull, unpriced_requests: 0 },
    });
    const byBody = {
      strategy: {
        mode: 'conditional',
        // biome-ignore lint/suspicious/noThenProperty: `then` is the published name of the field.
        conditions: [{ query: { 'params.temperature': { $gt: 1 } }, then: 'a' }],
        default: 'a',
      },
      targets: [{ ...gpt4o, name: 'a' }],
    };
    expect(await simulate({ config: byBody })).toMatchObject({
      requests: { replayed: 3, undecided: 3 },
      undecided: [{ reason: 'body_not_kept', requests: 3, before_nano_usd: 3 * atMini }],
    });
  });
});
