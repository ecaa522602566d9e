import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { jsonBounds, readJsonText } from '@sluice/json';
import {
  type ExportLogsServiceRequest,
  ExportLogsServiceRequestSchema,
  type KeyValueSchema,
  type LogRecordSchema,
  SeverityNumber,
} from '@sluice/proto-stubs/otlp';
import { attributesOf } from './attributes.ts';

/** Lines of JSON, as our services write them, as an export. */
export function createLogsExport(
  resource: MessageInitShape<typeof KeyValueSchema>[],
  scope: string,
  lines: readonly string[],
): ExportLogsServiceRequest {
  return create(ExportLogsServiceRequestSchema, {
    resourceLogs: [
      {
        resource: { attributes: resource },
        scopeLogs: [{ scope: { name: scope }, logRecords: lines.map(recordOf) }],
      },
    ],
  });
}

const severities: Readonly<Record<string, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
};

/** The message is the body, fields are attributes: texts and numbers as such, all else as JSON. */
function recordOf(line: string): MessageInitShape<typeof LogRecordSchema> {
  const { level, time, msg, service: _, ...fields } = fieldsOf(line);
  const atNanos = BigInt(Date.parse(String(time)) || 0) * 1_000_000n;
  return {
    timeUnixNano: atNanos,
    observedTimeUnixNano: atNanos,
    severityNumber: severities[String(level)] ?? SeverityNumber.UNSPECIFIED,
    severityText: String(level ?? '').toUpperCase(),
    body: { value: { case: 'stringValue', value: String(msg ?? line) } },
    attributes: attributesOf(
      Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [
          name,
          typeof value === 'object' ? JSON.stringify(value) : (value as string | number | boolean),
        ]),
      ),
    ),
  };
}

function fieldsOf(line: string): Record<string, unknown> {
  try {
    return readJsonText(line, jsonBounds.small) as Record<string, unknown>;
  } catch {
    return {};
  }
}
