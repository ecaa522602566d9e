/**
 * OTLP over HTTP, both ways: messages of OpenTelemetry's own definitions as
 * protobuf or JSON (`export-request.ts`), what sends them to one address and gives
 * up in time (`exporter.ts`), the settings that name it, and the names that the
 * conventions for generative AI have for what is ours (`gen-ai-names.ts`, `told-use.ts`).
 */
export {
  type AnyValue,
  ExportLogsServiceRequestSchema,
  ExportLogsServiceResponseSchema,
  ExportTraceServiceRequestSchema,
  ExportTraceServiceResponseSchema,
  type KeyValue,
  type LogRecord,
  LogRecordSchema,
  SeverityNumber,
  type Span,
  Span_SpanKind,
  SpanSchema,
  Status_StatusCode,
} from '@sluice/proto-stubs/otlp';
export { type AttributeValue, attributesOf, type PlainValue, plainValueOf } from './attributes.ts';
export { encodeExport, type OtlpProtocol, readExport } from './export-request.ts';
export { type Delivery, OtlpExporter, type OtlpTarget } from './exporter.ts';
export {
  type LogForwardEnv,
  readPairs,
  readTarget,
  receiverSettings,
  type TargetAddress,
} from './exporter-settings.ts';
export { operationNameOf, providerIdOf, providerNameOf } from './gen-ai-names.ts';
export { createLogsExport } from './log-lines.ts';
export { exceedsBounds, type MessageBounds } from './message-cost.ts';
export { spanIdOf, traceIdOf } from './span-ids.ts';
export { type ToldUse, useAttributes, useOf } from './told-use.ts';
