import { createMetrics, metricsLinesMax } from '@sluice/telemetry';
import { describe, expect, it } from 'vitest';
import { ingestMetrics } from './metrics.ts';

describe('the lines of /metrics', () => {
  it('stay below their bound with replicas of any number and any name', async () => {
    const registry = createMetrics({ app: 'data-service', env: 'test' });
    const metrics = ingestMetrics(registry);
    for (let index = 0; index < 2000; index++) metrics.rows.child({ table: `t${index}` }).add(1);
    metrics.sequenceGaps.replace(
      Array.from({ length: 5000 }, (_, index) => [`${index}`.padEnd(5000, 'x'), 1] as const),
    );
    const text = await registry.registry.metrics();
    const gaps = text.split('\n').filter((line) => line.startsWith('usage_sequence_gaps{'));
    expect(text.split('\n').length).toBeLessThan(metricsLinesMax / 2);
    expect(text.length).toBeLessThan(100_000);
    // What is not told apart is not lost.
    expect(gaps.at(-1)).toMatch(/replica_id="other".* 4900$/);
  });
});
