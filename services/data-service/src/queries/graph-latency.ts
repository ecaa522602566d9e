import type { Figures } from './graph.ts';

/** Requests that the gateway refused, and those whose end nobody saw, say nothing about how fast answers are. */
const answered = "outcome NOT IN ('denied', 'lost')";

/** Percentiles come from a digest: exact for small numbers of rows, within a percent for large ones. */
function percentile(level: number): string {
  return `if(countIf(${answered}) = 0, 0, quantileTDigestIf(${level})(latency_ms, ${answered}))`;
}

/** Milliseconds. */
export const latencyGraph: Figures = {
  avg: `if(countIf(${answered}) = 0, 0, avgIf(latency_ms, ${answered}))`,
  p50: percentile(0.5),
  p90: percentile(0.9),
  p99: percentile(0.99),
};
