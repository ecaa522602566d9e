import type { Metrics } from '@sluice/telemetry';
import type { ReplySummary } from './pipeline/exchange.ts';

export interface GatewayMetrics {
  observeRequest(
    method: string,
    endpoint: string,
    code: number,
    stream: boolean,
    latencyMs: number,
    summary: ReplySummary | undefined,
  ): void;
}

const secondBuckets = [
  0.1, 1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120, 240, 500, 1000, 3000,
];
const msBuckets = [
  0.1, 1, 2, 5, 10, 30, 50, 75, 100, 150, 200, 350, 500, 1000, 2500, 5000, 10_000, 50_000, 100_000,
  300_000, 500_000, 10_000_000,
];

/** The request's metrics, under the published names. Label children are looked up once and kept. */
export function createGatewayMetrics(metrics: Metrics): GatewayMetrics {
  const labels = ['method', 'endpoint', 'code', 'provider', 'stream', 'cacheStatus'] as const;
  const count = metrics.counter('request_count', 'Requests answered', labels);
  const duration = metrics.histogram(
    'http_request_duration_seconds',
    'From arrival to the end of the answer',
    secondBuckets,
    labels,
  );
  const upstream = metrics.histogram(
    'llm_request_duration_milliseconds',
    'From the call of the provider to its last byte',
    msBuckets,
    labels,
  );
  const own = metrics.histogram(
    'service_processing_time_excluding_last_byte_ms',
    'Time of the gateway itself',
    msBuckets,
    labels,
  );
  const tokens = metrics.counter('llm_token_sum', 'Tokens, input and output', ['provider']);
  const cost = metrics.counter('llm_cost_sum', 'Cost in USD', ['provider']);
  const children = new Map<string, ReturnType<typeof childrenOf>>();

  const childrenOf = (
    method: string,
    endpoint: string,
    code: number,
    provider: string,
    stream: boolean,
  ) => {
    const values = {
      method,
      endpoint,
      code: String(code),
      provider,
      stream: String(stream),
      cacheStatus: 'disabled',
    };
    return {
      count: count.labels(values),
      duration: duration.labels(values),
      upstream: upstream.labels(values),
      own: own.labels(values),
      tokens: tokens.labels({ provider }),
      cost: cost.labels({ provider }),
    };
  };

  return {
    observeRequest(method, endpoint, code, stream, latencyMs, summary) {
      const provider = summary?.provider ?? '';
      const key = `${method} ${endpoint} ${code} ${provider} ${stream}`;
      let child = children.get(key);
      if (child === undefined) {
        child = childrenOf(method, endpoint, code, provider, stream);
        children.set(key, child);
      }
      child.count.inc();
      child.duration.observe(latencyMs / 1000);
      if (summary === undefined) return;
      child.upstream.observe(summary.upstreamMs);
      child.own.observe(Math.max(0, latencyMs - summary.upstreamMs));
      child.tokens.inc(summary.inputTokens + summary.outputTokens);
      child.cost.inc(summary.costNanoUsd / 1e9);
    },
  };
}
