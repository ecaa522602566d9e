import { eventually, freshName, json, slowHeaders } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chatBody, chatReply, type Scenario, startScenario } from './scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario({
    promptLedger: true,
    environment: { gateway: { PROMETHEUS_INCLUDE_MODEL_LABEL: 'true' } },
  });
});
afterAll(() => scenario.stop());

it('each part of a request’s time is in its metric, and no part that there was not', async () => {
  const { stack, upstream, admin } = scenario;
  upstream.handle(() => json(200, chatReply));
  const { key } = await admin<{ key: string }>('POST', '/api-keys/workspace/service', {
    name: 'limited',
    workspace_id: stack.credentials.workspace_id,
    scopes: ['completions.write'],
    rate_limits: [{ type: 'requests', unit: 'rpd', value: 5 }],
  });
  const before = await textOf(stack.gatewayMetricsUrl);
  const cache = { 'x-service-config': '{"cache":{"mode":"simple"}}' };
  const kept = freshName('c');
  const body = (content: string) => ({ ...chatBody, messages: [{ role: 'user', content }] });
  // Called; called within a limit; kept, and given again.
  for (const call of [
    { body: body('a') },
    { body: body('b'), key },
    { body: body(kept), headers: cache },
    { body: body(kept), headers: cache },
  ])
    expect((await scenario.chat(call)).status).toBe(200);
  // Refused before it is known who calls.
  expect((await scenario.chat({ key: 'unknown-key' })).status).toBe(401);

  const text = await textOf(stack.gatewayMetricsUrl);
  const grown = (name: string, label?: string) =>
    sumOf(text, name, label) - sumOf(before, name, label);
  const counts = Object.fromEntries(
    [
      'service_request',
      'authentication',
      'api_key_rate_limit_check',
      'pre_request_processing',
      'llm_cache_processing',
      'post_request_processing',
    ].map((part) => [part, grown(`${part}_duration_milliseconds_count`)]),
  );
  expect(counts).toEqual({
    service_request: 5,
    authentication: 4,
    api_key_rate_limit_check: 1,
    pre_request_processing: 3,
    llm_cache_processing: 2,
    post_request_processing: 3,
  });
  expect(grown('llm_token_sum_total')).toBe(3 * 1500);
  expect(grown('llm_token_sum_total', 'model="gpt-4o-mini"')).toBe(3 * 1500);
  expect(grown('request_count', 'model=""')).toBe(1);
});

it('tokens and costs are those of all calls that the ledger has, and of work that is billed late', async () => {
  const { upstream, admin, stack } = scenario;
  const text = await textOf(stack.gatewayMetricsUrl);
  const usage = { input_tokens: 30, output_tokens: 7, total_tokens: 37 };
  const id = freshName('resp_late');
  const response = { id, object: 'response', model: 'gpt-4o-mini', output: [] };
  const made = { ...response, status: 'queued', background: true };
  upstream.handle(({ path, method, body }) => {
    if (method === 'GET') return json(200, { ...made, status: 'completed', usage });
    if (path.endsWith('/responses')) return json(200, made);
    return String(body).includes('slow-model')
      ? slowHeaders(5_000, json(200, chatReply))
      : json(200, chatReply);
  });
  const target = { provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1` };
  const config = {
    strategy: { mode: 'fallback' },
    targets: [
      { ...target, request_timeout: 300, override_params: { model: 'slow-model' } },
      target,
    ],
  };
  const headers = { 'x-service-config': JSON.stringify(config) };
  expect((await scenario.chat({ host: null, headers })).status).toBe(200);
  const body = { model: 'gpt-4o-mini', input: 'Hello', background: true };
  expect((await scenario.call('/v1/responses', { body })).status).toBe(200);
  await scenario.call(`/v1/responses/${id}`, { method: 'GET' });

  const query = new URLSearchParams({
    time_of_generation_min: new Date(Date.now() - 3_600_000).toISOString(),
    time_of_generation_max: new Date(Date.now() + 60_000).toISOString(),
    workspace_slug: stack.credentials.workspace_slug,
  });
  const total = async (graph: string) =>
    (await admin<{ summary: { total: number } }>('GET', `/analytics/graphs/${graph}?${query}`))
      .summary.total;
  await eventually(async () => {
    const now = await textOf(stack.gatewayMetricsUrl);
    const tokens = sumOf(now, 'llm_token_sum_total');
    // The prompt that nobody answered in time, the answer, and what was made in the background.
    expect(tokens - sumOf(text, 'llm_token_sum_total')).toBeGreaterThan(1500 + 37);
    expect(await total('tokens')).toBe(tokens);
    expect((await total('cost')) / 100).toBeCloseTo(sumOf(now, 'llm_cost_sum_total'), 9);
    expect(sumOf(now, 'sluice_prompt_tokens', 'provider="openai"')).toBeGreaterThan(4 * 1000 + 30);
  });
});

const llmBuckets = [
  0.1, 1, 2, 5, 10, 30, 50, 75, 100, 150, 200, 350, 500, 1000, 2500, 5000, 10_000, 50_000, 100_000,
  300_000, 500_000, 10_000_000,
];
const secondBuckets = [
  0.1, 1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120, 240, 500, 1000, 3000,
];
const gcBuckets = [
  0.001, 0.01, 0.1, 1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120, 240, 500, 1000, 6000,
];
const grpcBuckets = [0.01, 0.1, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];

/** What is published, but for `batch_…` of the data service: nothing here runs batches. */
const published = [
  ['request_count', 'counter', 'gateway', undefined],
  ['http_request_duration_seconds', 'histogram', 'gateway', secondBuckets],
  ['llm_request_duration_milliseconds', 'histogram', 'gateway', llmBuckets],
  ['service_processing_time_excluding_last_byte_ms', 'histogram', 'gateway', llmBuckets],
  ['llm_last_byte_diff_duration_milliseconds', 'histogram', 'gateway', llmBuckets],
  ['service_request_duration_milliseconds', 'histogram', 'gateway', llmBuckets],
  ['llm_cost_sum', 'gauge', 'gateway', undefined],
  ['llm_token_sum', 'gauge', 'gateway', undefined],
  ['authentication_duration_milliseconds', 'histogram', 'gateway', llmBuckets],
  ['api_key_rate_limit_check_duration_milliseconds', 'histogram', 'gateway', llmBuckets],
  ['pre_request_processing_duration_milliseconds', 'histogram', 'gateway', llmBuckets],
  ['post_request_processing_duration_milliseconds', 'histogram', 'gateway', llmBuckets],
  ['llm_cache_processing_duration_milliseconds', 'histogram', 'gateway', llmBuckets],
  ['grpc_req_conversion_duration_milliseconds', 'histogram', 'control-plane', grpcBuckets],
  ['grpc_res_conversion_duration_milliseconds', 'histogram', 'control-plane', grpcBuckets],
  ['grpc_req_conversion_duration_milliseconds', 'histogram', 'data-service', grpcBuckets],
  ['grpc_res_conversion_duration_milliseconds', 'histogram', 'data-service', grpcBuckets],
  ['node_gc_duration_seconds', 'histogram', 'gateway', gcBuckets],
  ['node_gc_duration_seconds', 'histogram', 'control-plane', gcBuckets],
  ['node_gc_duration_seconds', 'histogram', 'data-service', gcBuckets],
] as const;

it('every published metric is where it is to be, of its type, with its limits', async () => {
  const { stack } = scenario;
  const texts = {
    gateway: await textOf(stack.gatewayMetricsUrl),
    'control-plane': await textOf(`http://127.0.0.1:${stack.ports.controlPlaneMetrics}/metrics`),
    'data-service': await textOf(`${stack.dataServiceUrl}/metrics`),
  };
  for (const [name, type, service, limits] of published) {
    const lines = texts[service].split('\n');
    expect([service, lines.find((line) => line.startsWith(`# TYPE ${name} `))]).toEqual([
      service,
      `# TYPE ${name} ${type}`,
    ]);
    if (limits === undefined) continue;
    const shown = lines
      .filter((line) => line.startsWith(`${name}_bucket{`))
      .map((line) => Number(/le="([^"]+)"/.exec(line)?.[1]?.replace('+Inf', 'Infinity')));
    expect([service, name, [...new Set(shown)]]).toEqual([
      service,
      name,
      [...limits, Number.POSITIVE_INFINITY],
    ]);
  }
  const labels = (service: keyof typeof texts, name: string) =>
    [
      ...(new RegExp(`^${name}\\{(.*)\\} `, 'm').exec(texts[service])?.[1] ?? '').matchAll(
        /(\w+)="/g,
      ),
    ].map(([, label]) => label);
  expect(labels('gateway', 'request_count').toSorted()).toEqual(
    [
      ...['app', 'env', 'method', 'endpoint', 'code', 'provider', 'source', 'stream'],
      ...['cacheStatus', 'model'],
    ].toSorted(),
  );
  expect(labels('data-service', 'grpc_req_conversion_duration_milliseconds_count')).toEqual(
    expect.arrayContaining(['app', 'env', 'service', 'method']),
  );
});

async function textOf(url: string): Promise<string> {
  return (await fetch(url)).text();
}

function sumOf(text: string, name: string, label = ''): number {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) && line.includes(label))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
