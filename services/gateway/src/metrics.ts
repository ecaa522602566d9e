import type { CacheStatus } from '@sluice/contracts';
import { operationIds } from '@sluice/contracts';
import type { Counter } from '@sluice/engine';
import { providerIds } from '@sluice/providers';
import {
  addCounter,
  addHistogram,
  addSums,
  FirstValues,
  type Metrics,
  type SeriesBounds,
  statusLabel,
  statusLabels,
} from '@sluice/telemetry';
import type { UsageRecord } from '@sluice/usage';
import { eventModes, type NamedServer } from './exchange/event.ts';
import type { Exchange } from './exchange/exchange.ts';
import type { ReplySummary } from './exchange/visit.ts';
import type { AsyncHookReport } from './guardrails/background-hooks.ts';
import type { LimitWatch } from './limits/limit-watch.ts';
import type { EndedCall } from './metering/call-meter.ts';
import type { LabelledRequest, OptInLabel } from './opt-in-labels.ts';
import { type Embedded, embedded } from './visit/embed-question.ts';

export type RecordOfUse = Pick<
  UsageRecord,
  | 'endpoint'
  | 'provider'
  | 'providerSlug'
  | 'model'
  | 'stream'
  | 'cacheStatus'
  | 'inputTokens'
  | 'cacheReadTokens'
  | 'cacheWriteTokens'
  | 'outputTokens'
  | 'costNanoUsd'
>;

/** What is measured of a request beside what was answered. */
export type MeasuredRequest = LabelledRequest & Pick<Exchange, 'progress'>;

export interface GatewayMetrics {
  /** Adds what a record of a call says it used: each call counts, whether or not it gave its request's answer. */
  addUse(record: RecordOfUse, request: LabelledRequest): void;
  observeRequest(
    method: string,
    endpoint: string,
    code: number,
    stream: boolean,
    latencyMs: number,
    summary: ReplySummary | undefined,
    cacheStatus: CacheStatus,
    request: MeasuredRequest,
  ): void;
}

export interface GatewayMetricsOptions {
  /** Upper limits of histograms, ascending. */
  readonly msBuckets: readonly number[];
  readonly secondBuckets: readonly number[];
  readonly optIn: readonly OptInLabel[];
}

/** Labels that requests have, each from a list that no caller and no upstream adds to. */
const requestLabels = {
  method: new Set(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD']),
  endpoint: new Set<string>(operationIds),
  code: statusLabels,
  // Empty when no provider was asked.
  provider: new Set(['', ...providerIds()]),
  stream: new Set(['true', 'false']),
  cacheStatus: new Set(['hit', 'semantic hit', 'miss', 'semantic miss', 'refresh', 'disabled']),
  // As records have it: this gateway served it. What others tell of does not pass here.
  source: new Set(['gateway']),
} as const;

const promptCacheStates: ReadonlySet<string> = new Set(['read', 'written', 'none']);

/**
 * How many series each metric has. A service shows `metricsLinesMax` lines at most,
 * and this is how they are divided: a histogram takes 22 or 25 a series, so that
 * only the counter of requests has every label; and about 300 are left to the runtime
 * and the gauges of the gateway's parts.
 */
const seriesMax = {
  requests: 300,
  /** Told under four names. */
  sums: 55,
  httpDuration: 8,
  upstream: 11,
  own: 5,
  /** Three of each provider. */
  promptTokens: 30,
  /** Of stream or not, and of cache states: all there are. */
  stream: 2,
  cacheStatus: 5,
} as const;

/** The request's metrics, under the published names. Series are made once and kept. */
export function createGatewayMetrics(
  { registry }: Metrics,
  { msBuckets, secondBuckets, optIn }: GatewayMetricsOptions,
): GatewayMetrics {
  const { endpoint, provider, stream, cacheStatus, source } = requestLabels;
  const chosen = Object.fromEntries(optIn.map(({ name, values }) => [name, values]));
  const count = addCounter<string>(registry, 'request_count', 'Requests answered', {
    labels: { ...requestLabels, ...chosen },
    seriesMax: seriesMax.requests,
  });
  const sumBounds = {
    labels: { endpoint, provider, stream, cacheStatus, source, ...chosen },
    seriesMax: seriesMax.sums,
  };
  const tokens = addSums<string>(
    registry,
    { gauge: 'llm_token_sum', counter: 'llm_token_sum_total' },
    'Tokens, input and output',
    sumBounds,
  );
  const cost = addSums<string>(
    registry,
    { gauge: 'llm_cost_sum', counter: 'llm_cost_sum_total' },
    'Cost in USD',
    sumBounds,
  );
  const prompts = addCounter(
    registry,
    'sluice_prompt_tokens',
    'Tokens sent, by what the provider’s cache did with them: read, written, or none',
    { labels: { provider, prompt_cache: promptCacheStates }, seriesMax: seriesMax.promptTokens },
  );
  const duration = addHistogram(
    registry,
    'http_request_duration_seconds',
    'From arrival to the end of the answer',
    secondBuckets,
    { labels: { endpoint, stream }, seriesMax: seriesMax.httpDuration },
  );
  const ms = <L extends string = never>(name: string, help: string, bounds?: SeriesBounds<L>) =>
    addHistogram(registry, name, help, msBuckets, bounds);
  const upstream = ms(
    'llm_request_duration_milliseconds',
    'From the call of the provider to its last byte',
    { labels: { provider, stream }, seriesMax: seriesMax.upstream },
  );
  const own = ms('service_processing_time_excluding_last_byte_ms', 'Time of the gateway itself', {
    labels: { endpoint },
    seriesMax: seriesMax.own,
  });
  const byStream = { labels: { stream }, seriesMax: seriesMax.stream };
  const whole = ms(
    'service_request_duration_milliseconds',
    'From arrival to the end of the answer',
    byStream,
  );
  const lastByte = ms(
    'llm_last_byte_diff_duration_milliseconds',
    'From the first byte of the provider’s answer to its last',
    byStream,
  );
  const cache = ms('llm_cache_processing_duration_milliseconds', 'Looking into the cache', {
    labels: { cacheStatus },
    seriesMax: seriesMax.cacheStatus,
  });
  const authentication = ms(
    'authentication_duration_milliseconds',
    'From arrival until it is known who calls',
  ).child({});
  const limitCheck = ms(
    'api_key_rate_limit_check_duration_milliseconds',
    'Asking all limits of a request',
  ).child({});
  const before = ms(
    'pre_request_processing_duration_milliseconds',
    'What was done before the first call, reading the request and looking into the cache apart',
  ).child({});
  const after = ms(
    'post_request_processing_duration_milliseconds',
    'What was done with an answer that was read whole',
  ).child({});

  const promptSeries = (of: string) => ({
    promptRead: prompts.child({ provider: of, prompt_cache: 'read' }),
    promptWritten: prompts.child({ provider: of, prompt_cache: 'written' }),
    promptUncached: prompts.child({ provider: of, prompt_cache: 'none' }),
  });

  /** One look-up a request; what comes when it is full is looked up in each metric. */
  const kept = new Map<string, ReturnType<typeof findSeries>>();
  const findSeries = (labels: RequestLabels, asked: boolean) => ({
    count: count.child(labels),
    duration: duration.child(labels),
    whole: whole.child(labels),
    cache: labels.cacheStatus === 'disabled' ? undefined : cache.child(labels),
    ofCall: asked
      ? {
          upstream: upstream.child(labels),
          own: own.child(labels),
          lastByte: lastByte.child(labels),
        }
      : undefined,
  });
  const keptSums = new Map<string, ReturnType<typeof findSums>>();
  const findSums = (labels: SumLabels) => ({
    tokens: tokens.child(labels),
    ...promptSeries(labels.provider),
    cost: cost.child(labels),
  });

  return {
    addUse(record, request) {
      const { endpoint, provider, stream, cacheStatus } = record;
      let key = `${endpoint} ${provider} ${stream} ${cacheStatus}`;
      for (const label of optIn) key += `\n${label.read(request, record)}`;
      let sums = keptSums.get(key);
      if (sums === undefined) {
        sums = findSums({
          ...{ endpoint, provider, stream: String(stream) },
          cacheStatus: cacheStatus.toLowerCase(),
          source: 'gateway',
          ...Object.fromEntries(optIn.map((label) => [label.name, label.read(request, record)])),
        });
        if (keptSums.size < keptMax) keptSums.set(key, sums);
      }
      const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, costNanoUsd } = record;
      sums.tokens.add(inputTokens + outputTokens);
      if (cacheReadTokens > 0) sums.promptRead.add(cacheReadTokens);
      if (cacheWriteTokens > 0) sums.promptWritten.add(cacheWriteTokens);
      sums.promptUncached.add(Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens));
      sums.cost.add(costNanoUsd / 1e9);
    },
    observeRequest(method, endpoint, status, stream, latencyMs, summary, cacheStatus, request) {
      const code = statusLabel(status);
      const provider = summary?.provider ?? '';
      const asked = summary !== undefined;
      let key = `${method} ${endpoint} ${code} ${provider} ${stream} ${cacheStatus} ${asked}`;
      for (const label of optIn) key += `\n${label.read(request, summary)}`;
      let series = kept.get(key);
      if (series === undefined) {
        series = findSeries(
          {
            ...{ method, endpoint, code, provider, stream: String(stream) },
            cacheStatus: cacheStatus.toLowerCase(),
            source: 'gateway',
            ...Object.fromEntries(optIn.map((label) => [label.name, label.read(request, summary)])),
          },
          asked,
        );
        if (kept.size < keptMax) kept.set(key, series);
      }
      series.count.add(1);
      series.duration.observe(latencyMs / 1000);
      series.whole.observe(latencyMs);
      const { authenticationMs, limitsMs, cacheMs, preProcessingMs } = request.progress;
      if (authenticationMs > 0) authentication.observe(authenticationMs);
      if (limitsMs > 0) limitCheck.observe(limitsMs);
      if (cacheMs > 0) series.cache?.observe(cacheMs);
      if (preProcessingMs > 0) before.observe(preProcessingMs);
      const { ofCall } = series;
      if (ofCall === undefined || summary === undefined) return;
      ofCall.upstream.observe(summary.upstreamMs);
      ofCall.own.observe(Math.max(0, latencyMs - summary.upstreamMs));
      if (summary.lastByteMs > 0) ofCall.lastByte.observe(summary.lastByteMs);
      if (summary.responseParsingMs > 0) after.observe(summary.responseParsingMs);
    },
  };
}

type SumLabels = Readonly<Record<Exclude<keyof typeof requestLabels, 'method' | 'code'>, string>> &
  Readonly<Record<string, string>>;

type RequestLabels = Readonly<Record<keyof typeof requestLabels, string>> &
  Readonly<Record<string, string>>;

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
    { labels: { provider: requestLabels.provider, parameter: adaptedParameters }, seriesMax: 40 },
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

/** Names of what keeps a check from deciding; what else there is, is `other`. */
const checkErrors: ReadonlySet<string> = new Set(
  `UnknownCheck InvalidParameters InvalidPattern NothingToCheck NotSupported TextTooLong Unreadable TimeSpent
  HostFailed DeadlineExceeded HookDeadlineExceeded other`.split(/\s+/),
);

const asyncOutcomes: ReadonlySet<string> = new Set(['passed', 'failed', 'lost']);

/** How often a check could not decide, say because its partner is down. */
export function createGuardrailMetrics({ registry }: Metrics) {
  const errors = addCounter(
    registry,
    'sluice_guardrail_errors',
    'Checks of guardrails that could not decide, by the name of the error',
    { labels: { error: checkErrors }, seriesMax: checkErrors.size },
  );
  const async = addCounter(
    registry,
    'sluice_async_hooks',
    'Hooks that nobody waited for, by what they came to; lost = given up, too many or too long',
    { labels: { outcome: asyncOutcomes }, seriesMax: asyncOutcomes.size },
  );
  return {
    errored: (name: string) => {
      errors.child({ error: checkErrors.has(name) ? name : 'other' }).add(1);
    },
    ranAside: ({ result }: AsyncHookReport) => {
      const outcome = result === undefined ? 'lost' : result.verdict ? 'passed' : 'failed';
      async.child({ outcome }).add(1);
    },
  };
}

/** What the semantic cache asks for, and what it would have given. */
export function createCacheMetrics({ registry }: Metrics) {
  const results = new Set<string>(embedded);
  const vectors = addCounter(
    registry,
    'sluice_semantic_cache_vectors',
    'Vectors of questions that were asked for, by what came of it',
    { labels: { result: results }, seriesMax: results.size },
  );
  const shadowHits = addCounter(
    registry,
    'sluice_semantic_cache_shadow_hits',
    'Answers that the semantic cache would have given in shadow mode',
  ).child({});
  return {
    asked: (result: Embedded) => vectors.child({ result }).add(1),
    shadowHit: () => shadowHits.add(1),
  };
}

const callLabels = {
  kind: new Set(['mcp', 'agent']),
  mode: new Set(eventModes),
  outcome: new Set([
    'success',
    'tool_failed',
    'upstream_error',
    'upstream_failure',
    'partial',
    'caller_gone',
    'denied',
    'gateway_error',
  ]),
} as const;

/** Calls of MCP servers and of agents; of servers the first that are called are told apart. */
export function createCallMetrics({ registry }: Metrics) {
  const bounds = { labels: { ...callLabels, server: new FirstValues(20) }, seriesMax: 60 };
  const calls = addCounter(
    registry,
    'sluice_server_calls',
    'Calls of MCP servers and of agents, by server, mode and outcome',
    bounds,
  );
  const seconds = addCounter(
    registry,
    'sluice_server_call_seconds',
    'How long these calls took together',
    bounds,
  );
  const find = ({ event, outcome }: EndedCall) => {
    const labels = { kind: event.kind, server: event.server.slug, mode: event.mode, outcome };
    return { calls: calls.child(labels), seconds: seconds.child(labels) };
  };
  /** As long as the server is as it is. */
  const kept = new WeakMap<NamedServer, Map<string, ReturnType<typeof find>>>();
  return (ended: EndedCall): void => {
    const { event, outcome, ms } = ended;
    let ofServer = kept.get(event.server);
    if (ofServer === undefined) {
      ofServer = new Map();
      kept.set(event.server, ofServer);
    }
    const key = `${event.mode} ${outcome}`;
    let series = ofServer.get(key);
    if (series === undefined) {
      series = find(ended);
      ofServer.set(key, series);
    }
    series.calls.add(1);
    series.seconds.add(ms / 1000);
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
