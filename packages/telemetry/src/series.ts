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

/**
 * How many lines a metric may come to. Every value of a label is listed, since
 * one that comes from outside would make series without end, and nothing takes
 * them away again; and of the combinations only so many are told apart.
 */
export interface SeriesBounds<L extends string = string> {
  /** The values that each label may have; any other is `other`. */
  readonly labels: Readonly<Record<L, LabelValues>>;
  /** Further series are counted in one, whose labels all are `other`. */
  readonly seriesMax: number;
}

/** Which values of a label are told apart. */
export interface LabelValues {
  has(value: string): boolean;
}

/** Of values that nobody can list the first so many, in the order in which they come. */
export class FirstValues implements LabelValues {
  readonly #seen = new Set<string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  has(value: string): boolean {
    if (this.#seen.has(value)) return true;
    if (this.#seen.size >= this.#max) return false;
    this.#seen.add(value);
    return true;
  }
}

/** What is counted without being told apart. */
export const otherLabel = 'other';

/** A metric without labels. */
const single: SeriesBounds<never> = { labels: {}, seriesMax: 1 };

/** Adds a counter to the registry; `child` finds or makes one series of it. Keep the child. */
export function addCounter<L extends string = never>(
  registry: Registry,
  name: string,
  help: string,
  bounds: SeriesBounds<L> = single as SeriesBounds<L>,
): { child(labels: Readonly<Record<L, string>>): CounterChild } {
  const family = new Family(bounds, (labels) => new CounterSeries(labels));
  register(registry, name, help, 'counter', () =>
    family.all().map(({ labels, total }) => ({ labels, value: total })),
  );
  return family;
}

/**
 * Adds one sum under two names: a gauge, as it was published once, and a counter,
 * whose `rate()` is right when the service starts again.
 */
export function addSums<L extends string>(
  registry: Registry,
  names: { gauge: string; counter: string },
  help: string,
  bounds: SeriesBounds<L>,
): { child(labels: Readonly<Record<L, string>>): CounterChild } {
  const family = new Family(bounds, (labels) => new CounterSeries(labels));
  const read = () => family.all().map(({ labels, total }) => ({ labels, value: total }));
  register(registry, names.gauge, help, 'gauge', read);
  register(registry, names.counter, help, 'counter', read);
  return family;
}

/** Adds a histogram with these upper limits, ascending. */
export function addHistogram<L extends string = never>(
  registry: Registry,
  name: string,
  help: string,
  limits: readonly number[],
  bounds: SeriesBounds<L> = single as SeriesBounds<L>,
): { child(labels: Readonly<Record<L, string>>): HistogramChild } {
  const family = new Family(bounds, (labels) => new HistogramSeries(labels, limits));
  register(registry, name, help, 'histogram', () =>
    family.all().flatMap((series) => series.samples(name)),
  );
  return family;
}

/**
 * Adds a gauge with one label, whose series are told anew each time: the first
 * ones, and the sum of the others as `other`. Values of the label are cut to 128 characters.
 */
export function addGauges(
  registry: Registry,
  name: string,
  help: string,
  { label, seriesMax }: { label: string; seriesMax: number },
): { replace(values: readonly (readonly [string, number])[]): void } {
  let samples: Sample[] = [];
  register(registry, name, help, 'gauge', () => samples);
  return {
    replace(values) {
      samples = values
        .slice(0, seriesMax)
        .map(([text, value]) => ({ labels: { [label]: text.slice(0, 128) }, value }));
      const rest = values.slice(seriesMax);
      if (rest.length === 0) return;
      const value = rest.reduce((sum, [, each]) => sum + each, 0);
      samples.push({ labels: { [label]: otherLabel }, value });
    },
  };
}

/** The series of one metric, never more than one above its bound. */
class Family<S> {
  readonly #bounds: SeriesBounds;
  readonly #make: (labels: Labels) => S;
  readonly #labels: readonly (readonly [name: string, values: LabelValues])[];
  readonly #series = new Map<string, S>();
  #rest: S | undefined;

  constructor(bounds: SeriesBounds, make: (labels: Labels) => S) {
    this.#bounds = bounds;
    this.#labels = Object.entries(bounds.labels);
    this.#make = make;
  }

  child(labels: Labels): S {
    let key = '';
    for (const [name, values] of this.#labels) key += `${labelText(labels[name], values)}\n`;
    let found = this.#series.get(key);
    if (found !== undefined) return found;
    const known: Record<string, string> = {};
    for (const [name, values] of this.#labels) known[name] = labelText(labels[name], values);
    if (this.#series.size >= this.#bounds.seriesMax) {
      this.#rest ??= this.#make(
        Object.fromEntries(Object.keys(this.#bounds.labels).map((name) => [name, otherLabel])),
      );
      return this.#rest;
    }
    found = this.#make(known);
    this.#series.set(key, found);
    return found;
  }

  all(): S[] {
    const told = [...this.#series.values()];
    return this.#rest === undefined ? told : [...told, this.#rest];
  }
}

/** A value as it is told: one that nobody expects shares a series with all such. */
function labelText(value: string | undefined, values: LabelValues): string {
  return value !== undefined && values.has(value) ? value : otherLabel;
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
  readonly #labels: Labels;
  readonly #bounds: readonly number[];
  /** One more than bounds: the last counts what is above all of them. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(labels: Labels, bounds: readonly number[]) {
    this.#labels = labels;
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let index = 0;
    while (index < bounds.length && value > (bounds[index] as number)) index++;
    this.#counts[index] = (this.#counts[index] as number) + 1;
    this.#sum += value;
  }

  /** Cumulative, as Prometheus wants it. */
  samples(name: string) {
    let count = 0;
    const samples = [...this.#bounds, Number.POSITIVE_INFINITY].map((bound, index) => {
      count += this.#counts[index] as number;
      const le = bound === Number.POSITIVE_INFINITY ? '+Inf' : String(bound);
      return { metricName: `${name}_bucket`, labels: { ...this.#labels, le }, value: count };
    });
    return [
      ...samples,
      { metricName: `${name}_sum`, labels: this.#labels, value: this.#sum },
      { metricName: `${name}_count`, labels: this.#labels, value: count },
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
