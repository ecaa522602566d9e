import { Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createMetrics } from './metrics.ts';
import { addCounter, addHistogram, addSums, FirstValues } from './series.ts';

const lines = (text: string) => text.split('\n').filter((line) => line !== '');

describe('addHistogram', () => {
  it('exposes the same text as prom-client for the same observations', async () => {
    const bounds = [0.1, 1, 5];
    const values = [0.05, 0.1, 0.7, 1, 4.9, 5, 5.1, 100];
    const ours = new Registry();
    const theirs = new Registry();
    const child = addHistogram(ours, 'took', 'how long', bounds, {
      labels: { code: new Set(['200']) },
      seriesMax: 10,
    }).child({ code: '200' });
    const reference = new Histogram({
      name: 'took',
      help: 'how long',
      buckets: bounds,
      labelNames: ['code'],
      registers: [theirs],
    });
    for (const value of values) {
      child.observe(value);
      reference.observe({ code: '200' }, value);
    }
    const sorted = async (registry: Registry) =>
      lines(await registry.metrics())
        .map((line) => line.replace(/\{(.*)\}/, (_, labels) => `{${labels.split(',').sort()}}`))
        .sort();
    expect(await sorted(ours)).toEqual(await sorted(theirs));
  });
});

describe('addCounter', () => {
  it('keeps its series apart and takes the registry’s default labels', async () => {
    const registry = new Registry();
    registry.setDefaultLabels({ app: 'x' });
    const counter = addCounter(registry, 'seen', 'how many', {
      labels: { code: new Set(['200', '500']) },
      seriesMax: 10,
    });
    counter.child({ code: '200' }).add(2);
    counter.child({ code: '500' }).add(1);
    const text = await registry.metrics();
    expect(text).toContain('seen{code="200",app="x"} 2');
    expect(text).toContain('seen{code="500",app="x"} 1');
  });
});

describe('the series of a metric', () => {
  const labels = { code: new Set(['200', '500']), kind: new Set(['a', 'b', 'c']) };

  it('are no more for values that nobody listed, which are told as other', async () => {
    const registry = new Registry();
    const counter = addCounter(registry, 'seen', 'how many', { labels, seriesMax: 100 });
    for (let value = 0; value < 10_000; value++)
      counter.child({ code: `${value}`, kind: `"} 1\nforged{x="${value}` }).add(1);
    const text = lines(await registry.metrics()).filter((line) => line.startsWith('seen{'));
    expect(text.sort()).toEqual([
      'seen{code="200",kind="other"} 1',
      'seen{code="500",kind="other"} 1',
      'seen{code="other",kind="other"} 9998',
    ]);
  });

  it('are counted together above their bound, and nothing is lost', async () => {
    const registry = new Registry();
    const counter = addCounter(registry, 'seen', 'how many', { labels, seriesMax: 2 });
    for (const code of labels.code)
      for (const kind of labels.kind) counter.child({ code, kind }).add(1);
    counter.child({ code: '200', kind: 'a' }).add(1);
    const text = lines(await registry.metrics()).filter((line) => line.startsWith('seen{'));
    expect(text).toEqual([
      'seen{code="200",kind="a"} 2',
      'seen{code="200",kind="b"} 1',
      'seen{code="other",kind="other"} 4',
    ]);
  });
});

describe('addSums', () => {
  it('tells one sum as a gauge and as a counter', async () => {
    const registry = new Registry();
    const bounds = { labels: { code: new Set(['200']) }, seriesMax: 1 };
    addSums(registry, { gauge: 'cost', counter: 'cost_total' }, 'how much', bounds)
      .child({ code: '200' })
      .add(1.5);
    expect(lines(await registry.metrics())).toEqual([
      '# HELP cost how much',
      '# TYPE cost gauge',
      'cost{code="200"} 1.5',
      '# HELP cost_total how much',
      '# TYPE cost_total counter',
      'cost_total{code="200"} 1.5',
    ]);
  });
});

describe('FirstValues', () => {
  it('tells apart the first values that come, and no further ones', () => {
    const values = new FirstValues(2);
    expect(['a', 'b', 'c', 'a', 'b', 'c'].map((value) => values.has(value))).toEqual([
      ...[true, true, false],
      ...[true, true, false],
    ]);
  });
});

describe('the runtime’s metrics', () => {
  it('have collections of garbage under the published name, with the buckets asked for', async () => {
    const { registry } = createMetrics({ app: 'x', env: 'y', gcBuckets: [0.5, 600] });
    const read = async () => lines(await registry.metrics());
    await expect
      .poll(async () => {
        // Enough for the young generation to be collected.
        Array.from({ length: 2_000_000 }, (_, index) => ({ index }));
        return (await read()).some((line) => line.startsWith('node_gc_duration_seconds_count{'));
      })
      .toBe(true);
    const buckets = (await read()).filter((line) => line.startsWith('node_gc_duration_seconds_b'));
    const limits = new Set(buckets.map((line) => /le="(.*?)"/.exec(line)?.[1]));
    expect([...limits]).toEqual(['0.5', '600', '+Inf']);
    expect((await read()).join('\n')).not.toContain('nodejs_gc');
  });
});
