import { ascending, bool, integer, oneOf, optionalSecret, text, url } from './define-settings.ts';

/** Timers count in 31 bits; a longer wait would end at once. */
const timerMsMax = 2 ** 31 - 1;

/** How a service calls itself, what it logs, and how it ends. */
export function processSettings(defaults: { name: string; drainMs: number }) {
  return {
    SERVICE_NAME: text('label `app` of metrics and logs', defaults.name),
    LOG_LEVEL: oneOf(
      'process log level',
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'info',
    ),
    SHUTDOWN_DELAY: integer(
      'ms on SIGTERM during which readiness says no and everything is still taken, before DRAIN_TIMEOUT begins',
      0,
      0,
      timerMsMax,
    ),
    DRAIN_TIMEOUT: integer(
      'ms that requests under way get on SIGTERM',
      defaults.drainMs,
      0,
      timerMsMax,
    ),
    PROMETHEUS_PUSH_ENABLED: bool('send metrics to a Pushgateway, beside serving them', false),
    PROMETHEUS_GATEWAY_URL: url('where: its base, `/metrics/job/…` is appended'),
    PROMETHEUS_GATEWAY_AUTH: optionalSecret(
      '`user:password` for it, or a whole `Authorization` header',
    ),
    PROMETHEUS_PUSH_INTERVAL: integer('ms between two pushes', 15_000, 1_000, timerMsMax),
    PROMETHEUS_METRIC_NAMES: oneOf(
      'names of metrics: as published, the same with `sluice_` before those that have no prefix, or both',
      ['published', 'prefixed', 'both'],
      'published',
    ),
    PROMETHEUS_GC_BUCKETS: ascending(
      'upper limits of `node_gc_duration_seconds`, s',
      [0.001, 0.01, 0.1, 1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120, 240, 500, 1000, 6000],
    ),
  };
}

/** Of a service whose other ports callers reach. */
export function metricsSettings(defaults: { port: number }) {
  return {
    ENABLE_PROMETHEUS: bool('serve /metrics on METRICS_PORT', true),
    METRICS_PORT: integer('port of /metrics, for operators only', defaults.port, 0, 65_535),
  };
}

/**
 * What a service takes to close when requests have ended, ms: one part, all of
 * them, and what others have of its log after that.
 */
export const closingDeadlines = { partMs: 5_000, allMs: 6_000, logMs: 2_000 } as const;

/**
 * The longest from SIGTERM to the end of the process, ms: an orchestrator that
 * kills earlier takes records with it. Twice `allMs`, since parts that the
 * others have left no time still get a little, each. With the defaults it is less than the 30 s that orchestrators give.
 */
export function graceMs(env: { SHUTDOWN_DELAY: number; DRAIN_TIMEOUT: number }): number {
  const { allMs, logMs } = closingDeadlines;
  return env.SHUTDOWN_DELAY + env.DRAIN_TIMEOUT + allMs * 2 + logMs;
}
