import { Gauge, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { namedMetrics } from './metric-names.ts';

async function text(): Promise<string> {
  const registry = new Registry();
  const registers = [registry];
  for (const name of ['request_count', 'sluice_retries', 'node_x'])
    new Gauge({ name, help: `request_count, ${name}`, registers, labelNames: ['of'] }).set(
      { of: 'request_count' },
      1,
    );
  return registry.metrics();
}
const namesIn = (shown: string) =>
  [...shown.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name).sort();

it('shows metrics under the published names, with our prefix, or both', async () => {
  const shown = await text();
  expect(namedMetrics(shown, 'published')).toBe(shown);
  const ours = namedMetrics(shown, 'prefixed');
  expect(namesIn(ours)).toEqual(['node_x', 'sluice_request_count', 'sluice_retries']);
  expect(ours).toContain('\nsluice_request_count{of="request_count"} 1');
  const both = namedMetrics(shown, 'both');
  expect(namesIn(both)).toEqual([
    'node_x',
    'request_count',
    'sluice_request_count',
    'sluice_retries',
  ]);
});
