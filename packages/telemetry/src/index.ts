/** Logs, their field names and redaction, and metrics. Loggers are created once per service and handed down. */
export { createLogger, droppedEvents, flushLogger, type Logger, logsAt } from './logger.ts';
export { type MetricNames, metricNameForms } from './metric-names.ts';
export { createMetrics, type Metrics, metricsLinesMax } from './metrics.ts';
export { explainedBy, Outage, type OutageOptions, reasonOf, sparingOutages } from './outage.ts';
export { RequestLog, type RequestLogOptions } from './request-log.ts';
export { createSeldom, type Seldom } from './say-seldom.ts';
export {
  addCounter,
  addGauges,
  addHistogram,
  addSums,
  type CounterChild,
  FirstValues,
  type HistogramChild,
  type LabelValues,
  otherLabel,
  type SeriesBounds,
} from './series.ts';
export { type MetricsListener, serveMetrics } from './serve-metrics.ts';
export { statusClass, statusClasses, statusLabel, statusLabels } from './status-labels.ts';
