import { addCounter, addHistogram, type Metrics } from '@sluice/telemetry';
import type { CacheStatus, ReplySummary } from './pipeline/exchange.ts';

export interface GatewayMetrics {
  observeRequest(
    method: string,
    endpoint: string,
    code: number,
    stream: boolean,
    latencyMs: number,
    summary: ReplySummary | undefined,
    cacheStatus: CacheStatus,
  ): void;
}

const secondBuckets = [
  0.1, 1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120, 240, 500, 1000, 3000,
];
const msBuckets = [
  0.1, 1, 2, 5, 10, 30, 50, 75, 100, 150, 200, 350, 500, 1000, 2500, 5000, 10_000, 50_000, 100_000,
  300_000, 500_000, 10_000_000,
];

/** The request's metrics, under the published names. Series are made once and kept. */
export function createGatewayMetrics({ registry }: Metrics): GatewayMetrics {
  const count = addCounter(registry, 'request_count', 'Requests answered');
  const duration = addHistogram(
    registry,
    'http_request_duration_seconds',
    'From arrival to the end of the answer',
    secondBuckets,
  );
  const upstream = addHistogram(
    registry,
    'llm_request_duration_milliseconds',
    'From the call of the provider to its last byte',
    msBuckets,
  );
  const own = addHistogram(
    registry,
    'service_processing_time_excluding_last_byte_ms',
    'Time of the gateway itself',
    msBuckets,
  );
  const tokens = addCounter(registry, 'llm_token_sum', 'Tokens, input and output');
  const cost = addCounter(registry, 'llm_cost_sum', 'Cost in USD');

  /** By method, endpoint, code, provider, stream and cache status: all from short lists, so the map stays small. */
  const kept = new Map<string, ReturnType<typeof makeSeries>>();
  const makeSeries = (
    method: string,
    endpoint: string,
    code: number,
    provider: string,
    stream: boolean,
    cacheStatus: CacheStatus,
  ) => {
    const labels = {
      method,
      endpoint,
      code: String(code),
      provider,
      stream: String(stream),
      cacheStatus: cacheStatus.toLowerCase(),
    };
    return {
      count: count.child(labels),
      duration: duration.child(labels),
      upstream: upstream.child(labels),
      own: own.child(labels),
      tokens: tokens.child(labels),
      cost: cost.child(labels),
    };
  };

  return {
    observeRequest(method, endpoint, code, stream, latencyMs, summary, cacheStatus) {
      const provider = summary?.provider ?? '';
      const key = `${method} ${endpoint} ${code} ${provider} ${stream} ${cacheStatus}`;
      let series = kept.get(key);
      if (series === undefined) {
        series = makeSeries(method, endpoint, code, provider, stream, cacheStatus);
        kept.set(key, series);
      }
      series.count.add(1);
      series.duration.observe(latencyMs / 1000);
      if (summary === undefined) return;
      series.upstream.observe(summary.upstreamMs);
      series.own.observe(Math.max(0, latencyMs - summary.upstreamMs));
      series.tokens.add(summary.inputTokens + summary.outputTokens);
      series.cost.add(summary.costNanoUsd / 1e9);
    },
  };
}

/** How often the engine had to ask again. */
export function createRoutingMetrics({ registry }: Metrics) {
  const retries = addCounter(registry, 'sluice_retries', 'Calls repeated at the same target').child(
    {},
  );
  const fallbacks = addCounter(
    registry,
    'sluice_fallbacks',
    'Targets asked because another one failed',
  ).child({});
  const hedges = addCounter(
    registry,
    'sluice_hedges',
    'Second calls made because the first was slow',
  ).child({});
  return {
    retried: () => retries.add(1),
    fellBack: () => fallbacks.add(1),
    hedged: () => hedges.add(1),
  };
}
