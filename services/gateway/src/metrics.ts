import { operationIds } from '@sluice/contracts';
import type { Counter } from '@sluice/engine';
import { providerIds } from '@sluice/providers';
import {
  addCounter,
  addHistogram,
  type Metrics,
  statusLabel,
  statusLabels,
} from '@sluice/telemetry';
import type { CacheStatus, ReplySummary } from './exchange/visit.ts';
import type { LimitWatch } from './limits/limit-watch.ts';

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

/** Labels that requests have, each from a list that no caller and no upstream adds to. */
const requestLabels = {
  method: new Set(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD']),
  endpoint: new Set<string>(operationIds),
  code: statusLabels,
  // Empty when no provider was asked.
  provider: new Set(['', ...providerIds()]),
  stream: new Set(['true', 'false']),
  cacheStatus: new Set(['hit', 'miss', 'refresh', 'disabled']),
} as const;

/**
 * The request's metrics, under the published names. Series are made once and
 * kept. Together they stay below `metricsLinesMax` lines, most of which a
 * histogram takes: it has 22 to 26 a series, so only the counter of requests has every label.
 */
export function createGatewayMetrics({ registry }: Metrics): GatewayMetrics {
  const { endpoint, provider, stream, cacheStatus } = requestLabels;
  const count = addCounter(registry, 'request_count', 'Requests answered', {
    labels: requestLabels,
    seriesMax: 480,
  });
  const duration = addHistogram(
    registry,
    'http_request_duration_seconds',
    'From arrival to the end of the answer',
    secondBuckets,
    { labels: { endpoint, stream }, seriesMax: 11 },
  );
  const upstream = addHistogram(
    registry,
    'llm_request_duration_milliseconds',
    'From the call of the provider to its last byte',
    msBuckets,
    { labels: { provider, stream }, seriesMax: 15 },
  );
  const own = addHistogram(
    registry,
    'service_processing_time_excluding_last_byte_ms',
    'Time of the gateway itself',
    msBuckets,
    { labels: { endpoint }, seriesMax: 7 },
  );
  const byProvider = { labels: { endpoint, provider, stream, cacheStatus }, seriesMax: 120 };
  const tokens = addCounter(registry, 'llm_token_sum', 'Tokens, input and output', byProvider);
  const cost = addCounter(registry, 'llm_cost_sum', 'Cost in USD', byProvider);

  /** One look-up a request; what comes when it is full is looked up in each metric. */
  const kept = new Map<string, ReturnType<typeof findSeries>>();
  const findSeries = (labels: Record<keyof typeof requestLabels, string>, asked: boolean) => ({
    count: count.child(labels),
    duration: duration.child(labels),
    ofCall: asked
      ? {
          upstream: upstream.child(labels),
          own: own.child(labels),
          tokens: tokens.child(labels),
          cost: cost.child(labels),
        }
      : undefined,
  });

  return {
    observeRequest(method, endpoint, status, stream, latencyMs, summary, cacheStatus) {
      const code = statusLabel(status);
      const provider = summary?.provider ?? '';
      const asked = summary !== undefined;
      const key = `${method} ${endpoint} ${code} ${provider} ${stream} ${cacheStatus} ${asked}`;
      let series = kept.get(key);
      if (series === undefined) {
        const labels = { method, endpoint, code, provider, stream: String(stream) };
        series = findSeries({ ...labels, cacheStatus: cacheStatus.toLowerCase() }, asked);
        if (kept.size < keptMax) kept.set(key, series);
      }
      series.count.add(1);
      series.duration.observe(latencyMs / 1000);
      const { ofCall } = series;
      if (ofCall === undefined || summary === undefined) return;
      ofCall.upstream.observe(summary.upstreamMs);
      ofCall.own.observe(Math.max(0, latencyMs - summary.upstreamMs));
      ofCall.tokens.add(summary.inputTokens + summary.outputTokens);
      ofCall.cost.add(summary.costNanoUsd / 1e9);
    },
  };
}

const keptMax = 4096;

/** Labels of what was left out: from a list, since callers and providers make up names. */
const adaptedParameters: ReadonlySet<string> = new Set(
  `temperature top_p top_k seed stop stop_sequences logprobs top_logprobs logit_bias frequency_penalty
  presence_penalty reasoning reasoning_effort thinking thinking.display thinking.budget_tokens
  output_config output_config.effort output_config.format response_format tool_choice verbosity
  parallel_tool_calls service_tier user metadata store stream_options other`.split(/\s+/),
);

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
  const continuations = addCounter(
    registry,
    'sluice_continued_streams',
    'Targets asked for the rest of a stream that was cut',
  ).child({});
  const hedges = addCounter(
    registry,
    'sluice_hedges',
    'Second calls made because the first was slow',
  ).child({});
  const adapted = addCounter(
    registry,
    'sluice_adapted_requests',
    'Requests repeated without a parameter that the provider refused by name',
    { labels: { provider: requestLabels.provider, parameter: adaptedParameters }, seriesMax: 60 },
  );
  return {
    /** Parameters of no great fame are counted together, as `other`. */
    adapted: (provider: string, name: string) => {
      const parameter = adaptedParameters.has(name) ? name : 'other';
      adapted.child({ provider, parameter }).add(1);
    },
    retried: () => retries.add(1),
    fellBack: () => fallbacks.add(1),
    continued: () => continuations.add(1),
    hedged: () => hedges.add(1),
  };
}

const limitLabels = {
  level: new Set(['api_key', 'token', 'workspace', 'virtual_key', 'integration', 'policy']),
  type: new Set(['requests', 'tokens', 'cost']),
} as const;

export function createLimitMetrics({ registry }: Metrics): LimitWatch {
  const bounds = { labels: limitLabels, seriesMax: 18 };
  const refusals = addCounter(registry, 'sluice_limit_refusals', 'Refusals by a limit', bounds);
  const shadows = addCounter(
    registry,
    'sluice_limit_shadow_refusals',
    'Refusals that a limit in shadow mode would have made',
    bounds,
  );
  const overflows = addCounter(
    registry,
    'sluice_limit_overflows',
    'Requests counted in the group that all share for which a policy has no room',
  ).child({});
  const labelsOf = ({ limit: { holder, type } }: Counter) => ({ level: holder.kind, type });
  return {
    refused: (counter) => refusals.child(labelsOf(counter)).add(1),
    wouldRefuse: (counter) => shadows.child(labelsOf(counter)).add(1),
    overflowed: () => overflows.add(1),
  };
}
