import { providerIds } from '@sluice/providers';
import { createMetrics, metricsLinesMax } from '@sluice/telemetry';
import { describe, expect, it } from 'vitest';
import { createGatewayMetrics, createRoutingMetrics } from './metrics.ts';
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

function start() {
  const metrics = createMetrics({ app: 'gateway', env: 'test' });
  const gateway = createGatewayMetrics(metrics);
  createRoutingMetrics(metrics);
  return {
    observe(change: Partial<typeof usual>) {
      const { method, endpoint, status, stream, provider, cacheStatus } = { ...usual, ...change };
      const spent = {
        inputTokens: 1,
        outputTokens: 1,
        costNanoUsd: 1,
        costKnown: true,
        upstreamMs: 5,
      };
      const summary = { provider, model: 'm', ...spent };
      gateway.observeRequest(method, endpoint, status, stream, 10, summary, cacheStatus);
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
    const { observe, lines } = start();
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
    // The gateway's own gauges are the rest: three lines each.
    expect(found.length).toBeLessThan(metricsLinesMax - 100);
    expect(countOf(found, 'request_count')).toBe(requests);
    expect(countOf(found, 'http_request_duration_seconds_count')).toBe(requests);
    expect(countOf(found, 'llm_request_duration_milliseconds_count')).toBe(requests);
    expect(countOf(found, 'llm_token_sum')).toBe(2 * requests);
  });
});
