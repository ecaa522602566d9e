/**
 * OpenTelemetry's own messages, of the definitions that it publishes (`proto/opentelemetry`).
 * Apart from ours, so that only who speaks OTLP loads them.
 */
export {
  type ExportLogsServiceRequest,
  ExportLogsServiceRequestSchema,
  ExportLogsServiceResponseSchema,
} from './gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.js';
export {
  type ExportTraceServiceRequest,
  ExportTraceServiceRequestSchema,
  ExportTraceServiceResponseSchema,
} from './gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
export {
  type AnyValue,
  AnyValueSchema,
  type KeyValue,
  KeyValueSchema,
} from './gen/opentelemetry/proto/common/v1/common_pb.js';
export {
  type LogRecord,
  LogRecordSchema,
  SeverityNumber,
} from './gen/opentelemetry/proto/logs/v1/logs_pb.js';
export { ResourceSchema } from './gen/opentelemetry/proto/resource/v1/resource_pb.js';
export {
  type Span,
  Span_SpanKind,
  SpanSchema,
  Status_StatusCode,
} from './gen/opentelemetry/proto/trace/v1/trace_pb.js';
