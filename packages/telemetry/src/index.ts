/** Logs, their field names and redaction, and metrics. Loggers are created once per service and handed down. */
export { createLogger, createRequestLogger, flushLogger, type Logger } from './logger.ts';
export { createMetrics, type Metrics } from './metrics.ts';
export { addCounter, addHistogram, type CounterChild, type HistogramChild } from './series.ts';
