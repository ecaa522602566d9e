import { adminEndpoints } from '@sluice/contracts/admin';
import { createMetrics, metricsLinesMax } from '@sluice/telemetry';
import { describe, expect, it } from 'vitest';
import { createAdminMetrics } from './metrics.ts';

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
    const lines = (await metrics.registry.metrics()).split('\n');
    // Gauges, and collections of garbage of every kind, are the rest.
    expect(lines.length).toBeLessThan(metricsLinesMax - 150);
    expect(lines.join('\n')).not.toContain('of-a-stranger');
  });
});
