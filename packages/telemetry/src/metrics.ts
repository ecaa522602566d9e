import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  readonly registry: Registry;
  counter(name: string, help: string): Counter;
  gauge(name: string, help: string): Gauge;
  histogram(name: string, help: string, buckets: readonly number[]): Histogram;
}

/**
 * The whole of a service's `/metrics` stays below this, whatever callers send: a
 * scraper that is given more every day ends by dropping all of it.
 */
export const metricsLinesMax = 2000;

/**
 * A registry of its own with runtime metrics (prefix `node_`) and the labels app and env on everything.
 * Metrics with labels of their own are made by `addCounter` and `addHistogram`, which bound them.
 */
export function createMetrics(options: { app: string; env: string }): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ app: options.app, env: options.env });
  collectDefaultMetrics({ register: registry, prefix: 'node_' });
  const registers = [registry];
  return {
    registry,
    counter: (name, help) => new Counter({ name, help, registers }),
    gauge: (name, help) => new Gauge({ name, help, registers }),
    histogram: (name, help, buckets) =>
      new Histogram({ name, help, buckets: [...buckets], registers }),
  };
}
