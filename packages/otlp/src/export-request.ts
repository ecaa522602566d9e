import {
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonValue,
  type Message,
  type MessageShape,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';

/** How messages are written; OTLP's gRPC is not spoken. */
export type OtlpProtocol = 'http/json' | 'http/protobuf';

export interface EncodedExport {
  readonly contentType: string;
  readonly body: Buffer;
}

/** The body of an export, as OTLP wants it: JSON has ids in hex and enums as numbers. */
export function encodeExport<Schema extends DescMessage>(
  schema: Schema,
  message: MessageShape<Schema> & Message,
  protocol: OtlpProtocol,
): EncodedExport {
  if (protocol === 'http/protobuf')
    return {
      contentType: 'application/x-protobuf',
      body: Buffer.from(toBinary(schema, message)),
    };
  const json = toJson(schema, message, { enumAsInteger: true });
  return {
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify(withIds(json, base64ToHex))),
  };
}

/**
 * An export that somebody sent; members that nobody knows are passed over.
 * @throws Error saying where it is not what OTLP defines
 */
export function readExport<Schema extends DescMessage>(
  schema: Schema,
  content:
    | { readonly protocol: 'http/protobuf'; readonly bytes: Uint8Array }
    | { readonly protocol: 'http/json'; readonly json: unknown },
): MessageShape<Schema> {
  if (content.protocol === 'http/protobuf') return fromBinary(schema, content.bytes);
  const json = withIds(content.json as JsonValue, hexToBase64);
  return fromJson(schema, json, { ignoreUnknownFields: true });
}

/** In both spellings that JSON of messages may have. */
const idMembers: ReadonlySet<string> = new Set([
  'traceId',
  'spanId',
  'parentSpanId',
  'trace_id',
  'span_id',
  'parent_span_id',
]);
/** What may hold anything: no member below is an id of ours to change. */
const opaqueMembers: ReadonlySet<string> = new Set(['attributes', 'body']);

/** A copy in which ids of spans are written in the other way. */
function withIds(value: JsonValue, change: (id: string) => string): JsonValue {
  if (Array.isArray(value)) return value.map((item) => withIds(item, change));
  if (typeof value !== 'object' || value === null) return value;
  const copy: { [key: string]: JsonValue } = {};
  for (const [name, inner] of Object.entries(value))
    copy[name] =
      typeof inner === 'string' && idMembers.has(name)
        ? change(inner)
        : opaqueMembers.has(name)
          ? inner
          : withIds(inner, change);
  return copy;
}

function base64ToHex(id: string): string {
  return Buffer.from(id, 'base64').toString('hex');
}

/** What is no hex is left to be refused. */
function hexToBase64(id: string): string {
  return /^(?:[0-9a-f]{2})*$/i.test(id) ? Buffer.from(id, 'hex').toString('base64') : `(${id})`;
}
