import { GatewayError } from '@sluice/errors';
import { JsonError, jsonBounds, readJson } from '@sluice/json';
import {
  type ExportLogsServiceRequestSchema,
  type ExportTraceServiceRequestSchema,
  exceedsBounds,
  type OtlpProtocol,
  readExport,
} from '@sluice/otlp';

type Schema = typeof ExportTraceServiceRequestSchema | typeof ExportLogsServiceRequestSchema;

/** A batch of an exporter has some hundred spans of some twenty attributes. */
const bounds = { messagesMax: 200_000, depthMax: 100 };

/** @throws GatewayError where the content type is not one of OTLP's */
export function protocolOf(contentType: string | undefined): OtlpProtocol {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'application/x-protobuf') return 'http/protobuf';
  if (type === 'application/json') return 'http/json';
  throw new GatewayError('request.unsupported_content_type', {
    message: 'OTLP is application/x-protobuf or application/json.',
  });
}

/** What reading would cost is counted on the bytes first. @throws GatewayError that says what is wrong */
export function readSent<Sent extends Schema>(
  schema: Sent,
  protocol: OtlpProtocol,
  bytes: Buffer,
): ReturnType<typeof readExport<Sent>> {
  try {
    if (protocol === 'http/json')
      return readExport(schema, { protocol, json: readJson(bytes, jsonBounds.request) });
    if (exceedsBounds(schema, bytes, bounds)) throw new GatewayError('request.too_many_values');
    return readExport(schema, { protocol, bytes });
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    if (error instanceof JsonError)
      throw new GatewayError(jsonFaults[error.fault], { cause: error });
    throw new GatewayError('admin.validation', {
      field: 'body',
      message: `This is no export of OTLP: ${reasonOf(error)}`,
      cause: error,
    });
  }
}

const jsonFaults = {
  malformed: 'request.malformed_json',
  'too-deep': 'request.too_deep',
  'too-many-values': 'request.too_many_values',
  'too-large': 'request.too_large',
} as const satisfies Record<JsonError['fault'], string>;

/** The reader names the field; what it repeats of a value may be long. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 300).toWellFormed() : 'unreadable';
}
