import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type Metric,
  Registry,
} from 'prom-client';
import { type MetricNames, namedMetrics } from './metric-names.ts';
import { observeGc } from './observe-gc.ts';

export interface Metrics {
  readonly registry: Registry;
  /** What `/metrics` shows. */
  text(): Promise<string>;
  counter(name: string, help: string): Counter;
  gauge(name: string, help: string): Gauge;
  histogram(name: string, help: string, buckets: readonly number[]): Histogram;
  /** Watches the process no longer. What was counted can still be read. */
  close(): void;
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
export function createMetrics(options: {
  app: string;
  env: string;
  /** Upper limits of `node_gc_duration_seconds`, ascending. */
  gcBuckets?: readonly number[];
  /** Under which names; the published ones unless given. */
  names?: MetricNames;
}): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ app: options.app, env: options.env });
  for (const metric of runtimeMetrics().getMetricsAsArray())
    registry.registerMetric(metric as unknown as Metric);
  const stopObserving = observeGc(registry, options.gcBuckets);
  const registers = [registry];
  return {
    registry,
    text: async () => namedMetrics(await registry.metrics(), options.names ?? 'published'),
    counter: (name, help) => new Counter({ name, help, registers }),
    gauge: (name, help) => new Gauge({ name, help, registers }),
    histogram: (name, help, buckets) =>
      new Histogram({ name, help, buckets: [...buckets], registers }),
    close: stopObserving,
  };
}

let runtime: Registry | undefined;

/** Of the process, whatever runs in it: made once, because what watches the event loop a hundred times a second never ends. */
function runtimeMetrics(): Registry {
  if (runtime !== undefined) return runtime;
  runtime = new Registry();
  collectDefaultMetrics({ register: runtime, prefix: 'node_' });
  // Ours has the published name, and buckets of its own.
  runtime.removeSingleMetric('node_nodejs_gc_duration_seconds');
  return runtime;
}
