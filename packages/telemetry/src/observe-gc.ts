import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import type { Registry } from 'prom-client';
import { addHistogram } from './series.ts';

const kinds: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
};

/** What Node's own types leave out of an entry of the kind `gc`. */
type GcEntry = PerformanceEntry & { readonly detail: { readonly kind: number } };

/** How long collections of garbage held up everything else, by their kind. Returns what ends it. */
export function observeGc(
  registry: Registry,
  buckets: readonly number[] = [0.01, 0.1, 1],
): () => void {
  const durations = addHistogram(
    registry,
    'node_gc_duration_seconds',
    'Duration of collections of garbage, by their kind',
    buckets,
    { labels: { kind: new Set(Object.values(kinds)) }, seriesMax: 4 },
  );
  const observer = new PerformanceObserver((list) => {
    for (const { detail, duration } of list.getEntries() as GcEntry[])
      durations.child({ kind: kinds[detail.kind] ?? '' }).observe(duration / 1000);
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => observer.disconnect();
}
