import { defineSettings } from '@sluice/env';
import { providerIds } from '@sluice/providers';
import { createMetrics, metricsLinesMax } from '@sluice/telemetry';
import { describe, expect, it } from 'vitest';
import { Progress } from './exchange/progress.ts';
import {
  createGatewayMetrics,
  createLimitMetrics,
  createRoutingMetrics,
  type MeasuredRequest,
} from './metrics.ts';
import { optInLabels } from './opt-in-labels.ts';
import { prometheusSettings } from './prometheus-settings.ts';
import { unifiedEndpoints } from './routes/unified-endpoints.ts';

const hostile = Array.from({ length: 2000 }, (_, index) => `x${index}"} 1\nforged{a="`);
const usual = {
  method: 'POST',
  endpoint: 'chatComplete',
  status: 200,
  stream: false,
  provider: 'openai',
  cacheStatus: 'MISS' as const,
};

const { readEnv } = defineSettings({ Prometheus: prometheusSettings });

/** A request whose every part took its time. */
function measured(change: Partial<MeasuredRequest> = {}): MeasuredRequest {
  const progress = Object.assign(new Progress(), {
    authenticationMs: 0.4,
    limitsMs: 3,
    cacheMs: 7,
    preProcessingMs: 40,
  });
  return { key: undefined, config: undefined, metadata: {}, progress, ...change };
}

function start(source: NodeJS.ProcessEnv = {}) {
  const env = readEnv(source);
  const gcBuckets = Array.from({ length: 21 }, (_, index) => index + 1);
  const metrics = createMetrics({ app: 'gateway', env: 'test', gcBuckets });
  const gateway = createGatewayMetrics(metrics, {
    msBuckets: env.PROMETHEUS_HISTOGRAM_BUCKETS,
    secondBuckets: env.PROMETHEUS_HTTP_DURATION_BUCKETS,
    optIn: optInLabels(env),
  });
  const routing = createRoutingMetrics(metrics);
  createLimitMetrics(metrics);
  return {
    routing,
    observe(change: Partial<typeof usual>, request = measured(), model = 'm') {
      const { method, endpoint, status, stream, provider, cacheStatus } = { ...usual, ...change };
      const asked = { provider, providerSlug: 'in-house-2', model };
      const used = { inputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 1 };
      gateway.addUse({ ...asked, endpoint, stream, cacheStatus, ...used, costNanoUsd: 1 }, request);
      const times = { upstreamMs: 5, lastByteMs: 2, responseParsingMs: 0.3 };
      const summary = { ...asked, ...times, errorCode: '' };
      gateway.observeRequest(method, endpoint, status, stream, 10, summary, cacheStatus, request);
    },
    lines: async () => (await metrics.registry.metrics()).split('\n').filter((line) => line !== ''),
  };
}

const countOf = (lines: string[], name: string) =>
  lines
    .filter((line) => line.startsWith(`${name}{`))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);

describe('the lines of /metrics', () => {
  it.each<[string, Partial<typeof usual>[]]>([
    ['statuses that upstreams invent', hostile.map((_, index) => ({ status: index }))],
    ['methods', hostile.map((method) => ({ method }))],
    ['endpoints', hostile.map((endpoint) => ({ endpoint }))],
    ['providers', hostile.map((provider) => ({ provider }))],
    ['cache states', hostile.map((text) => ({ cacheStatus: text as 'MISS' }))],
  ])('do not grow by %s', async (_label, changes) => {
    const { observe, lines } = start();
    observe({});
    for (const change of changes) observe(change);
    const found = await lines();
    expect(found.length).toBeLessThan(metricsLinesMax / 2);
    expect(found.join('\n')).not.toContain('forged');
    expect(countOf(found, 'request_count')).toBe(changes.length + 1);
  });

  it('stay below their bound for every combination of listed values, and count every request', async () => {
    const { observe, routing, lines } = start();
    for (const provider of providerIds())
      for (const name of ['temperature', 'top_p', 'seed']) routing.adapted(provider, name);
    let requests = 0;
    for (const provider of providerIds())
      for (const { id: endpoint } of unifiedEndpoints)
        for (const status of [200, 400, 429, 502])
          for (const stream of [true, false])
            for (const cacheStatus of ['HIT', 'MISS', 'REFRESH', 'DISABLED'] as const) {
              observe({ provider, endpoint, status, stream, cacheStatus } as typeof usual);
              requests += 1;
            }
    const found = await lines();
    // The rest are gauges of the gateway's parts, three lines each, and collections of garbage.
    expect(found.length).toBeLessThan(metricsLinesMax - 200);
    expect(countOf(found, 'request_count')).toBe(requests);
    expect(countOf(found, 'http_request_duration_seconds_count')).toBe(requests);
    expect(countOf(found, 'llm_request_duration_milliseconds_count')).toBe(requests);
    expect(countOf(found, 'llm_token_sum')).toBe(2 * requests);
  });
});

const samples = (lines: string[], name: string) =>
  lines.filter((line) => line.startsWith(`${name}{`)).map((line) => line.replace(/,?app=.*}/, '}'));

describe('the metrics of a request', () => {
  it('have the published names, and each part of its time once', async () => {
    const { observe, lines } = start();
    observe({});
    const found = await lines();
    for (const [name, sum] of [
      ['http_request_duration_seconds', 0.01],
      ['service_request_duration_milliseconds', 10],
      ['llm_request_duration_milliseconds', 5],
      ['service_processing_time_excluding_last_byte_ms', 5],
      ['llm_last_byte_diff_duration_milliseconds', 2],
      ['authentication_duration_milliseconds', 0.4],
      ['api_key_rate_limit_check_duration_milliseconds', 3],
      ['llm_cache_processing_duration_milliseconds', 7],
      ['pre_request_processing_duration_milliseconds', 40],
      ['post_request_processing_duration_milliseconds', 0.3],
    ] as const) {
      expect(found).toContain(`# TYPE ${name} histogram`);
      expect([name, countOf(found, `${name}_count`)]).toEqual([name, 1]);
      expect([name, countOf(found, `${name}_sum`)]).toEqual([name, sum]);
    }
    for (const [name, type] of [
      ['llm_token_sum', 'gauge'],
      ['llm_token_sum_total', 'counter'],
    ]) {
      expect(found).toContain(`# TYPE ${name} ${type}`);
      expect(countOf(found, name as string)).toBe(2);
    }
    expect(countOf(found, 'llm_cost_sum')).toBe(countOf(found, 'llm_cost_sum_total'));
  });

  it('say nothing of what was not done', async () => {
    const { observe, lines } = start();
    observe({}, measured({ progress: new Progress() }));
    const found = await lines();
    for (const part of ['authentication', 'api_key_rate_limit_check', 'pre_request_processing'])
      expect(countOf(found, `${part}_duration_milliseconds_count`)).toBe(0);
  });

  it('have the buckets asked for', async () => {
    const { observe, lines } = start({
      PROMETHEUS_HISTOGRAM_BUCKETS: '8,9',
      PROMETHEUS_HTTP_DURATION_BUCKETS: '0.005,1',
    });
    observe({});
    const limits = (name: string, found: string[]) =>
      samples(found, `${name}_bucket`).map((line) => /le="(.*?)"/.exec(line)?.[1]);
    const found = await lines();
    expect(limits('authentication_duration_milliseconds', found)).toEqual(['8', '9', '+Inf']);
    expect(limits('http_request_duration_seconds', found)).toEqual(['0.005', '1', '+Inf']);
  });
});

describe('opt-in labels', () => {
  const key = { source: { name: 'billing' } } as MeasuredRequest['key'];
  const saved = { saved: { slug: 'cheap' } } as MeasuredRequest['config'];
  const inline = { saved: undefined } as MeasuredRequest['config'];
  const metadata = { team: 'blue', _user: 'ann', secret: 's3cret' };
  const all = {
    PROMETHEUS_INCLUDE_MODEL_LABEL: 'true',
    PROMETHEUS_INCLUDE_PROVIDER_SLUG_LABEL: 'true',
    PROMETHEUS_INCLUDE_CONFIG_NAME_LABEL: 'true',
    PROMETHEUS_INCLUDE_API_KEY_NAME_LABEL: 'true',
    PROMETHEUS_EXTRA_LABELS: 'apiKeyName, configName',
    PROMETHEUS_INCLUDE_METADATA_LABELS: 'true',
    PROMETHEUS_LABELS_METADATA_ALLOWED_KEYS: 'team,_user,constructor',
  };
  const request = measured({ key, config: saved, metadata });

  it('are none unless they are asked for', async () => {
    const { observe, lines } = start();
    observe({}, request, 'gpt-x');
    const text = (await lines()).join('\n');
    for (const told of ['gpt-x', 'in-house-2', 'cheap', 'billing', 'blue', 'ann', 's3cret'])
      expect(text).not.toContain(told);
  });

  it('tell model, config, key and the listed metadata in the counters, in both spellings', async () => {
    const { observe, lines } = start(all);
    observe({}, request, 'gpt-x');
    const found = await lines();
    for (const name of ['request_count', 'llm_cost_sum', 'llm_cost_sum_total', 'llm_token_sum'])
      for (const label of [
        ...['model="gpt-x"', 'config_name="cheap"', 'api_key_name="billing"'],
        'provider_slug="in-house-2"',
        ...['configName="cheap"', 'apiKeyName="billing"'],
        ...['metadata_team="blue"', 'metadata__user="ann"', 'metadata_constructor=""'],
      ])
        expect(samples(found, name)).toEqual([expect.stringContaining(label)]);
    expect(found.join('\n')).not.toContain('s3cret');
  });

  it('say N/A of a config in the request, and nothing where there is none', async () => {
    const { observe, lines } = start({ PROMETHEUS_INCLUDE_CONFIG_NAME_LABEL: 'true' });
    observe({}, measured({ config: inline }));
    observe({}, measured());
    expect(samples(await lines(), 'request_count')).toEqual([
      expect.stringContaining('config_name="N/A"'),
      expect.stringContaining('config_name=""'),
    ]);
  });

  it('have a bound whatever callers write, and lose no request', async () => {
    const { observe, lines } = start(all);
    for (const [index, text] of hostile.entries()) {
      const long = text.padEnd(5000, '\u0001\ud800');
      observe({}, measured({ key, config: saved, metadata: { team: long } }), `${index}`);
    }
    const found = await lines();
    expect(found.length).toBeLessThan(metricsLinesMax - 200);
    expect(Math.max(...found.map((line) => line.length))).toBeLessThan(1000);
    expect(found.join('\n')).not.toContain('\u0001');
    expect(found.join('\n')).not.toMatch(/^forged/m);
    expect(countOf(found, 'request_count')).toBe(hostile.length);
    expect(countOf(found, 'llm_token_sum_total')).toBe(2 * hostile.length);
  });

  it.each<[string, NodeJS.ProcessEnv]>([
    ['PROMETHEUS_EXTRA_LABELS knows', { PROMETHEUS_EXTRA_LABELS: 'user' }],
    ['needs 1 to 10 keys', { PROMETHEUS_INCLUDE_METADATA_LABELS: 'true' }],
    [
      'needs 1 to 10 keys',
      {
        PROMETHEUS_INCLUDE_METADATA_LABELS: 'true',
        PROMETHEUS_LABELS_METADATA_ALLOWED_KEYS: Array.from({ length: 11 }, (_, at) => at).join(),
      },
    ],
    [
      'names metadata_a_b twice',
      {
        PROMETHEUS_INCLUDE_METADATA_LABELS: 'true',
        PROMETHEUS_LABELS_METADATA_ALLOWED_KEYS: 'a-b,a.b',
      },
    ],
  ])('are refused at the start: %s', (fault, source) => {
    expect(() => optInLabels(readEnv(source))).toThrow(fault);
  });
});
