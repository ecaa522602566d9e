import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { type DescMessage, fromBinary, fromJson, type MessageShape } from '@bufbuild/protobuf';
import {
  type AnyValue,
  ExportLogsServiceRequestSchema,
  ExportTraceServiceRequestSchema,
  type KeyValue,
} from '@sluice/otlp';
import { keepAliveMs } from './keep-alive.ts';

/** A span as a receiver has it, its ids in hex. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly status: { readonly code: number; readonly message: string };
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
  readonly scope: string;
}

export interface ReceivedLog {
  readonly body: unknown;
  readonly severity: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
  readonly scope: string;
  readonly timeMs: number;
}

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Unpacked. */
  readonly body: Buffer;
}

/** A receiver of OTLP over HTTP that takes nothing but what OpenTelemetry's definitions allow. */
export interface OtlpReceiver {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  readonly logs: ReceivedLog[];
  readonly requests: ReceivedRequest[];
  /** Why exports were no OTLP. */
  readonly faults: string[];
  /** Answers so from now on; undefined = as it should. */
  fail(how: OtlpFailure | undefined): void;
  close(): Promise<void>;
}

export type OtlpFailure =
  | 'hang'
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    };

export async function startOtlpReceiver(port = 0): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const logs: ReceivedLog[] = [];
  const requests: ReceivedRequest[] = [];
  const faults: string[] = [];
  let failure: OtlpFailure | undefined;

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const sent = await buffer(incoming);
    const body = incoming.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
    const path = incoming.url ?? '';
    requests.push({ path, headers: incoming.headers, body });
    if (failure === 'hang') return;
    if (failure !== undefined) {
      response.writeHead(failure.status, failure.headers).end(failure.body);
      return;
    }
    const type = incoming.headers['content-type'] ?? '';
    try {
      if (path.endsWith('/v1/traces')) take(spans, spansIn(type, body));
      else if (path.endsWith('/v1/logs')) take(logs, logsIn(type, body));
      else throw new Error(`nothing is at ${path}`);
    } catch (error) {
      faults.push(String(error));
      response.writeHead(400).end();
      return;
    }
    response.writeHead(200, { 'content-type': type });
    response.end(type === jsonType ? '{}' : '');
  }

  const server = createServer({ keepAliveTimeout: keepAliveMs }, (incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((ready) => server.listen(port, '127.0.0.1', ready));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    logs,
    requests,
    faults,
    fail(how) {
      failure = how;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function take<Item>(to: Item[], items: readonly Item[]): void {
  to.push(...items);
}

const jsonType = 'application/json';

function decoded<Schema extends DescMessage>(
  schema: Schema,
  type: string,
  body: Buffer,
): MessageShape<Schema> {
  if (type === 'application/x-protobuf') return fromBinary(schema, body);
  if (type !== jsonType) throw new Error(`${type} is no OTLP`);
  // Ids are in hex, where the definitions' own JSON would have base64.
  const text = body
    .toString('utf8')
    .replaceAll(/"(traceId|spanId|parentSpanId)":"([^"]*)"/g, (_, name: string, id: string) => {
      if (!/^(?:[0-9a-f]{16}|[0-9a-f]{32}|)$/.test(id)) throw new Error(`${name} is ${id}`);
      return `"${name}":"${Buffer.from(id, 'hex').toString('base64')}"`;
    });
  if (/"(?:kind|severityNumber|code)":"/.test(text)) throw new Error('enums are numbers in OTLP');
  return fromJson(schema, JSON.parse(text));
}

function spansIn(type: string, body: Buffer): ReceivedSpan[] {
  const { resourceSpans } = decoded(ExportTraceServiceRequestSchema, type, body);
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span) => {
        if (span.traceId.length !== 16 || span.spanId.length !== 8)
          throw new Error('an id of a span has another length');
        return {
          traceId: hex(span.traceId),
          spanId: hex(span.spanId),
          parentSpanId: hex(span.parentSpanId),
          name: span.name,
          kind: span.kind,
          startMs: Number(span.startTimeUnixNano) / 1e6,
          endMs: Number(span.endTimeUnixNano) / 1e6,
          status: { code: span.status?.code ?? 0, message: span.status?.message ?? '' },
          attributes: plainAttributes(span.attributes),
          resource: plainAttributes(resource?.attributes ?? []),
          scope: scope?.name ?? '',
        };
      }),
    ),
  );
}

function logsIn(type: string, body: Buffer): ReceivedLog[] {
  const { resourceLogs } = decoded(ExportLogsServiceRequestSchema, type, body);
  return resourceLogs.flatMap(({ resource, scopeLogs }) =>
    scopeLogs.flatMap(({ scope, logRecords }) =>
      logRecords.map((record) => ({
        body: plain(record.body),
        severity: record.severityNumber,
        attributes: plainAttributes(record.attributes),
        resource: plainAttributes(resource?.attributes ?? []),
        scope: scope?.name ?? '',
        timeMs: Number(record.timeUnixNano) / 1e6,
      })),
    ),
  );
}

function plainAttributes(attributes: readonly KeyValue[]): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const { key, value } of attributes) {
    if (Object.hasOwn(found, key)) throw new Error(`there is ${key} twice`);
    found[key] = plain(value);
  }
  return found;
}

function plain(value: AnyValue | undefined): unknown {
  const content = value?.value;
  switch (content?.case) {
    case 'intValue':
      return Number(content.value);
    case 'arrayValue':
      return content.value.values.map(plain);
    case 'kvlistValue':
      return plainAttributes(content.value.values);
    default:
      return content?.value;
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
