import { adminEndpoints } from '@sluice/contracts/admin';
import {
  addCounter,
  addHistogram,
  type Metrics,
  statusClass,
  statusClasses,
} from '@sluice/telemetry';

/** Told of every answer: its operation, its status and when its request came, by `performance.now()`. */
export type ObserveOperation = (operation: string, status: number, startedAt: number) => void;

/** Methods of the gRPC port that are told apart: operations take most of the lines. */
export const rpcSeriesMax = 4;

/** Counts of every operation, and durations of every kind of resource: a histogram has many lines. */
export function createAdminMetrics({ registry }: Metrics): ObserveOperation {
  const names = new Set(Object.keys(adminEndpoints));
  const count = addCounter(
    registry,
    'sluice_admin_requests_total',
    'Admin API requests by operation and class of status.',
    { labels: { operation: names, status: statusClasses }, seriesMax: 900 },
  );
  const durations = addHistogram(
    registry,
    'sluice_admin_request_duration_seconds',
    'Duration of admin API requests by the resource of their operation.',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    { labels: { resource: new Set([...names].map(resourceOf)) }, seriesMax: 60 },
  );
  return (operation, status, startedAt) => {
    count.child({ operation, status: statusClass(status) }).add(1);
    durations
      .child({ resource: resourceOf(operation) })
      .observe((performance.now() - startedAt) / 1000);
  };
}

/** `configs.create` is about `configs`. */
function resourceOf(operation: string): string {
  return operation.split('.', 1)[0] ?? operation;
}
