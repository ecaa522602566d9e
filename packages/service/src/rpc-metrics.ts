import type { OnConverted } from '@sluice/rpc';
import { addHistogram, FirstValues, type HistogramChild, type Metrics } from '@sluice/telemetry';

/** As published, ms. */
const limits = [0.01, 0.1, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];

/**
 * How long messages of a gRPC port take to be read and written, by method. A
 * series is 18 lines: of more methods the later ones are told together.
 */
export function createRpcMetrics(
  { registry }: Metrics,
  { seriesMax }: { seriesMax: number },
): OnConverted {
  const open = (side: 'req' | 'res', help: string) => {
    const bounds = {
      // No caller names any: they are those of our own definitions.
      labels: { service: new FirstValues(seriesMax), method: new FirstValues(seriesMax) },
      seriesMax,
    };
    const name = `grpc_${side}_conversion_duration_milliseconds`;
    const family = addHistogram(registry, name, help, limits, bounds);
    const kept = new Map<string, HistogramChild>();
    return (service: string, method: string, ms: number) => {
      const key = `${service}/${method}`;
      let child = kept.get(key);
      if (child === undefined) {
        child = family.child({ service, method });
        kept.set(key, child);
      }
      child.observe(ms);
    };
  };
  const observe = {
    request: open('req', 'Reading the requests of a gRPC port'),
    reply: open('res', 'Writing its replies'),
  };
  return (side, { parent, name }, ms) => observe[side](parent.name, name, ms);
}
