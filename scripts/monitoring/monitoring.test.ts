import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { startStack, type TestStack } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { metricsPage } from '../docs/metrics-page.ts';
import { alertExamples, was } from './alert-examples.ts';
import { alertRules } from './alerts.ts';
import { dashboards } from './dashboards.ts';
import { evaluateExpression, metricsIn } from './evaluate-expression.ts';

const metricsFile = resolve(import.meta.dirname, '../../docs/metrics.md');
const rules = Object.values(alertRules).flat();
const panels = Object.values(dashboards).flat();

describe('each alert', () => {
  it('has its examples', () => {
    expect(Object.keys(alertExamples).sort()).toEqual(rules.map(({ name }) => name).sort());
  });

  it.each(rules.map(({ name, expression }) => [name, expression]))(
    '%s fires when it has to, and not before',
    (name, expression) => {
      const example = alertExamples[name];
      expect(evaluateExpression(expression, example?.fires ?? [])).toHaveLength(1);
      expect(evaluateExpression(expression, example?.isQuiet ?? [])).toEqual([]);
      expect(evaluateExpression(expression, [])).toEqual([]);
    },
  );
});

describe('runbooks', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/deploy/runbooks.md'), 'utf8');
  const sections = page.split('\n## ').slice(1);

  it('are there for each alert and for nothing else, and say all four things', () => {
    expect(sections.map((text) => text.split('\n')[0]).sort()).toEqual(
      rules.map(({ name }) => name).sort(),
    );
    for (const text of sections)
      expect([...text.matchAll(/^- \*\*(.+?)\*\*: \S/gm)].map(([, what]) => what)).toEqual([
        'Means',
        'Callers see',
        'Look at',
        'Do',
      ]);
  });

  it('name metrics that there are', () => {
    const told = readFileSync(metricsFile, 'utf8');
    const named = [...page.matchAll(/`((?:sluice|usage|nats|analytics)_[a-z_]+)`/g)].map(
      ([, name = '']) => name,
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !told.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('evaluateExpression', () => {
  it.each(['sum(', 'sum(a) > b', 'avg(a)', 'a{b="c"} c', 'rate(a)', 'a > 1 > 2', 'a + b'])(
    'refuses %s',
    (text) => {
      expect(() => metricsIn(text)).toThrow();
    },
  );

  it('takes a quantile from between the limits of its bucket', () => {
    const buckets = [
      was('b', 10, { le: '1' }),
      was('b', 30, { le: '3' }),
      was('b', 30, { le: '+Inf' }),
    ];
    const [found] = evaluateExpression('histogram_quantile(0.5, sum by (le) (b))', buckets);
    expect(found).toEqual({ labels: {}, value: 1.5 });
  });
});

describe('what the services render', () => {
  let stack: TestStack;
  let types: Map<string, string>;
  let rendered: Record<string, string>;
  beforeAll(async () => {
    stack = await startStack({ promptLedger: true, logStore: true });
    const { gatewayMetricsUrl, dataServiceUrl, ports } = stack;
    const metricsUrls = {
      gateway: gatewayMetricsUrl,
      'control-plane': `http://127.0.0.1:${ports.controlPlaneMetrics}/metrics`,
      'data-service': `${dataServiceUrl}/metrics`,
    };
    rendered = Object.fromEntries(
      await Promise.all(
        Object.entries(metricsUrls).map(async ([name, url]) => [
          name,
          await (await fetch(url)).text(),
        ]),
      ),
    );
    const texts = Object.values(rendered);
    const found = texts.join('\n').matchAll(/^# TYPE (\S+) (\S+)$/gm);
    types = new Map([...found].map(([, name = '', type = '']) => [name, type]));
  });
  afterAll(() => stack?.stop());

  const isRendered = (name: string) =>
    types.has(name) || types.get(name.replace(/_(bucket|sum|count)$/, '')) === 'histogram';

  it('has every metric that alerts and dashboards name', () => {
    const named = [
      ...rules.map(({ expression }) => expression),
      ...panels.flatMap(({ expressions }) => expressions),
    ].flatMap(metricsIn);
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter((name) => !isRendered(name))).toEqual([]);
  });

  it('is what docs/metrics.md says: npm test -- scripts/monitoring -u', async () => {
    for (const text of Object.values(rendered)) expect(text.length).toBeGreaterThan(1_000);
    await expect(metricsPage(rendered)).toMatchFileSnapshot(metricsFile);
  });

  it('has what docs/operating.md tells the labels of', () => {
    const page = readFileSync(resolve(import.meta.dirname, '../../docs/operating.md'), 'utf8');
    const [, section = ''] = page.split('## Metrics\n');
    const tables = [...section.matchAll(/^\| (`.*?) +\|/gm)].flatMap(([, names = '']) =>
      [...names.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name),
    );
    expect(tables.length).toBeGreaterThan(15);
    expect(tables.filter((name) => !isRendered(name))).toEqual([]);
  });
});
