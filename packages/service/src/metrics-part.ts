import { type Metrics, type MetricsListener, serveMetrics } from '@sluice/telemetry';
import type { Part } from './part.ts';

/** `/metrics` on a listener of its own. */
export function metricsPart(options: { metrics: Metrics; host: string; port: number }): Part {
  let listener: MetricsListener | undefined;
  return {
    name: 'metrics',
    async start() {
      listener = await serveMetrics(options.metrics, options);
    },
    stop: () => listener?.close(),
    ports: () => ({ metrics_port: listener?.port }),
  };
}
