import { setTimeout as delay } from 'node:timers/promises';
import { closingDeadlines } from '@sluice/env';
import {
  createMetrics,
  droppedEvents,
  type Logger,
  type MetricNames,
  type Metrics,
} from '@sluice/telemetry';
import { metricsPart } from './metrics-part.ts';
import type { Part, Ports } from './part.ts';
import { type PushEnv, pushMetricsPart } from './push-metrics-part.ts';
import { type StopDeadlines, stopParts } from './stop-parts.ts';

/** What every service can be told: see `processSettings` and `metricsSettings`. */
export interface ServiceEnv extends PushEnv {
  readonly SERVICE_NAME: string;
  readonly LOG_LEVEL: string;
  readonly NODE_ENV: string;
  readonly SHUTDOWN_DELAY: number;
  readonly DRAIN_TIMEOUT: number;
  readonly HOST: string;
  readonly ENABLE_PROMETHEUS?: boolean;
  /** Undefined: the service shows its metrics on another port. */
  readonly METRICS_PORT?: number;
  readonly PROMETHEUS_METRIC_NAMES?: MetricNames;
  readonly PROMETHEUS_GC_BUCKETS?: readonly number[];
}

/** What a service is built with, beside what it was told. */
export interface ServiceTools {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Where lines go that pass the logger by; stderr unless given. */
  readonly logFd?: number;
}

/** Builds the parts of a service, each after those it needs, and starts none. */
export type Wire<E> = (env: E, tools: ServiceTools) => readonly Part[] | Promise<readonly Part[]>;

export interface StartServiceOptions<E> {
  env: E;
  logger: Logger;
  wire: Wire<E>;
  /** As `ServiceTools` has it. */
  logFd?: number;
  /** Ends the start when it aborts. */
  stopping?: AbortSignal;
}

export interface RunningService {
  readonly ports: Ports;
  /** Whether all parts are ready; they all run. */
  isReady(): boolean;
  /** @throws AggregateError of all that could not be closed, when all else is */
  stop(): Promise<void>;
}

function stopDeadlines(env: ServiceEnv): StopDeadlines {
  const { partMs, allMs } = closingDeadlines;
  return { drainMs: env.DRAIN_TIMEOUT, partMs, allMs };
}

/**
 * Starts a service inside this process: its metrics first, so that they can be
 * seen from the beginning to the end, then its parts in order.
 * @throws what kept a part from starting, when those before it are closed again
 */
export async function startService<E extends ServiceEnv>(
  options: StartServiceOptions<E>,
): Promise<RunningService> {
  const { env, logger, wire, logFd, stopping = new AbortController().signal } = options;
  const metrics = createMetrics({
    app: env.SERVICE_NAME,
    env: env.NODE_ENV,
    gcBuckets: env.PROMETHEUS_GC_BUCKETS,
    names: env.PROMETHEUS_METRIC_NAMES,
  });
  const stopped = aborting(stopping);
  const wired = await Promise.race([wire(env, { logger, metrics, logFd }), stopped]);
  const parts: Part[] = [
    { name: 'runtime-metrics', stop: () => metrics.close() },
    eventLog(logger),
    ...metricsParts(env, { metrics, logger }),
    ...(wired ?? []),
  ];
  for (const part of parts) observe(metrics, part);

  const begun: Part[] = [];
  try {
    for (const part of parts) {
      if (stopping.aborted) break;
      begun.push(part);
      // Whoever is told to stop does not wait for a part that waits for others.
      await Promise.race([part.start?.(stopping), stopped]);
    }
  } catch (error) {
    for (const fault of await stopParts(begun, { ...stopDeadlines(env), drainMs: 0 }))
      logger.error({ err: fault }, 'a part could not be closed');
    throw error;
  }
  return {
    ports: Object.assign({}, ...begun.map((part) => part.ports?.())),
    isReady: () => begun.every((part) => part.isReady?.() !== false),
    async stop() {
      for (const part of begun) part.retire?.();
      await delay(env.SHUTDOWN_DELAY);
      const faults = await stopParts(begun, stopDeadlines(env));
      if (faults.length > 0) throw new AggregateError(faults, 'parts could not be closed');
    },
  };
}

/** Resolves when it aborts, at once where it has. */
export function aborting(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

function metricsParts(env: ServiceEnv, tools: ServiceTools): Part[] {
  const { ENABLE_PROMETHEUS: isServed, METRICS_PORT: port, HOST: host } = env;
  const isShown = isServed === true && port !== undefined;
  return [
    ...(isShown ? [metricsPart({ metrics: tools.metrics, host, port })] : []),
    ...(env.PROMETHEUS_PUSH_ENABLED === true ? [pushMetricsPart(env, tools)] : []),
  ];
}

/** It writes by itself; this shows what it could not. */
function eventLog(logger: Logger): Part {
  return {
    name: 'event-log',
    gauges: () => [
      {
        name: 'event_log_lines_dropped',
        help: 'Lines of the event log that were dropped since the start: nobody read them in time',
        read: () => droppedEvents(logger),
      },
    ],
  };
}

function observe(metrics: Metrics, part: Part): void {
  for (const { name, help, read } of part.gauges?.() ?? []) {
    const gauge = metrics.gauge(name, help);
    Object.assign(gauge, { collect: () => gauge.set(read()) });
  }
}
