import { adminEndpoints } from '@sluice/contracts/admin';
import { config } from '@sluice/proto-stubs';
import { createRpcMetrics } from '@sluice/service';
import { createMetrics, metricsLinesMax } from '@sluice/telemetry';
import { describe, expect, it } from 'vitest';
import { createAdminMetrics, rpcSeriesMax } from './metrics.ts';

describe('the lines of /metrics', () => {
  it('stay below their bound when every operation answers with every status', async () => {
    const gcBuckets = Array.from({ length: 21 }, (_, index) => index + 1);
    const metrics = createMetrics({ app: 'control-plane', env: 'test', gcBuckets });
    const observe = createAdminMetrics(metrics);
    const names = [
      ...Object.keys(adminEndpoints),
      ...Array.from({ length: 2000 }, (_, index) => `of-a-stranger-${index}.x`),
    ];
    for (const operation of names)
      for (const status of [200, 400, 401, 403, 404, 409, 429, 500, 503, 999, Number.NaN])
        observe(operation, status, performance.now());
    const convert = createRpcMetrics(metrics, { seriesMax: rpcSeriesMax });
    for (const method of config.ConfigService.methods) {
      convert('request', method, 1);
      convert('reply', method, 1);
    }
    const lines = (await metrics.registry.metrics()).split('\n');
    // Gauges, and collections of garbage of every kind, are the rest.
    expect(lines.length).toBeLessThan(metricsLinesMax - 150);
    expect(lines.join('\n')).not.toContain('of-a-stranger');
  });
});
