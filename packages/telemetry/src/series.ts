import type { Metric, Registry } from 'prom-client';

/**
 * Counters and histograms for the hot path. prom-client looks a child up by a
 * hash of its labels at every observation; here the caller keeps the child and
 * an observation is an addition. Served by the same registry.
 */
export interface CounterChild {
  add(value: number): void;
}

export interface HistogramChild {
  observe(value: number): void;
}

type Labels = Readonly<Record<string, string>>;

/** Adds a counter to the registry; `child` makes one series of it. Keep the child. */
export function addCounter(
  registry: Registry,
  name: string,
  help: string,
): { child(labels: Labels): CounterChild } {
  const children: CounterSeries[] = [];
  register(registry, name, help, 'counter', () =>
    children.map(({ labels, total }) => ({ labels, value: total })),
  );
  return {
    child(labels) {
      const series = new CounterSeries(labels);
      children.push(series);
      return series;
    },
  };
}

/** Adds a histogram with these upper bounds, ascending. */
export function addHistogram(
  registry: Registry,
  name: string,
  help: string,
  bounds: readonly number[],
): { child(labels: Labels): HistogramChild } {
  const children: HistogramSeries[] = [];
  register(registry, name, help, 'histogram', () =>
    children.flatMap((series) => series.samples(name)),
  );
  return {
    child(labels) {
      const series = new HistogramSeries(labels, bounds);
      children.push(series);
      return series;
    },
  };
}

class CounterSeries implements CounterChild {
  readonly labels: Labels;
  total = 0;

  constructor(labels: Labels) {
    this.labels = labels;
  }

  add(value: number): void {
    this.total += value;
  }
}

class HistogramSeries implements HistogramChild {
  private readonly labels: Labels;
  private readonly bounds: readonly number[];
  /** One more than bounds: the last counts what is above all of them. */
  private readonly counts: Float64Array;
  private sum = 0;

  constructor(labels: Labels, bounds: readonly number[]) {
    this.labels = labels;
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const { bounds } = this;
    let index = 0;
    while (index < bounds.length && value > (bounds[index] as number)) index++;
    this.counts[index] = (this.counts[index] as number) + 1;
    this.sum += value;
  }

  /** Cumulative, as Prometheus wants it. */
  samples(name: string) {
    let count = 0;
    const samples = [...this.bounds, Number.POSITIVE_INFINITY].map((bound, index) => {
      count += this.counts[index] as number;
      const le = bound === Number.POSITIVE_INFINITY ? '+Inf' : String(bound);
      return { metricName: `${name}_bucket`, labels: { ...this.labels, le }, value: count };
    });
    return [
      ...samples,
      { metricName: `${name}_sum`, labels: this.labels, value: this.sum },
      { metricName: `${name}_count`, labels: this.labels, value: count },
    ];
  }
}

interface Sample {
  metricName?: string;
  labels: Labels;
  value: number;
}

/** The registry asks a metric for its name and its values, nothing else. */
function register(
  registry: Registry,
  name: string,
  help: string,
  type: string,
  read: () => Sample[],
): void {
  const metric = {
    name,
    help,
    type,
    aggregator: 'sum',
    get: async () => ({ name, help, type, aggregator: 'sum', values: read() }),
    reset: () => {},
  };
  registry.registerMetric(metric as unknown as Metric);
}
