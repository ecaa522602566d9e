import { fromBinary, type MessageInitShape } from '@bufbuild/protobuf';
import {
  attributesOf,
  operationNameOf,
  Span_SpanKind,
  type SpanSchema,
  Status_StatusCode,
  spanIdOf,
  traceIdOf,
} from '@sluice/otlp';
import { usage } from '@sluice/proto-stubs';
import { entriesOf } from '../content/segment.ts';
import { contentAttributes } from './content-attributes.ts';
import { recordAttributes } from './record-attributes.ts';
import { requestParts } from './request-parts.ts';
import type { BatchedSpan } from './span-batch.ts';

export type SpanInit = MessageInitShape<typeof SpanSchema>;

/** The span of an attempt, and those of the parts of its request that are told apart. */
export function spansOf({ record: bytes, content, isLateHook }: BatchedSpan): SpanInit[] {
  const record = fromBinary(usage.UsageRecordSchema, bytes);
  const owner = record.organisationId;
  const [entry] = content === undefined ? [] : entriesOf(content);
  const traceId = traceIdOf(record.traceId, owner);
  const spanId = keepsSpanId(record)
    ? spanIdOf(record.spanId, owner)
    : // The second half of a UUIDv7 is random, but for two bits.
      record.id.subarray(8);
  const endMs = Number(record.createdAtMs) + record.latencyMs;
  const startMs = endMs - (record.attemptMs || record.entryMs || record.latencyMs);
  const hasFailed = record.outcome !== usage.Outcome.SUCCESS || record.toolFailed;
  const span: SpanInit = {
    traceId,
    spanId,
    parentSpanId: record.parentSpanId === '' ? nothing : spanIdOf(record.parentSpanId, owner),
    name: `${operationNameOf(record.endpoint)} ${subjectOf(record)}`.trim(),
    kind: Span_SpanKind.CLIENT,
    startTimeUnixNano: nanosOf(startMs),
    endTimeUnixNano: nanosOf(endMs),
    attributes: attributesOf({
      ...recordAttributes(record),
      ...(entry === undefined ? {} : contentAttributes(entry)),
    }),
    status: hasFailed
      ? { code: Status_StatusCode.ERROR, message: String(record.statusCode) }
      : { code: Status_StatusCode.UNSET },
  };
  // What is late has ended when it is told, and says by its entry which of them it is.
  const partOf = Buffer.from(isLateHook ? record.entryId : record.id).toString('hex');
  const parts = requestParts
    .flatMap((tell) => tell(record))
    .map(({ id, name, attributes, hasFailed: hasPartFailed, ms, isLast }) => ({
      traceId,
      spanId: spanIdOf(`${id}:${partOf}`, owner),
      parentSpanId: spanId,
      name,
      kind: Span_SpanKind.INTERNAL,
      startTimeUnixNano: nanosOf(isLast || isLateHook ? endMs - ms : startMs),
      endTimeUnixNano: nanosOf(isLast || isLateHook ? endMs : startMs + ms),
      attributes: attributesOf(attributes),
      status: { code: hasPartFailed ? Status_StatusCode.ERROR : Status_StatusCode.UNSET },
    }));
  return isLateHook ? parts : [span, ...parts];
}

/** A tool by its name; another call of a server by the server's. */
function subjectOf({ rpcMethod, capabilityName, providerSlug, model }: usage.UsageRecord): string {
  return rpcMethod === '' ? model : capabilityName || providerSlug;
}

/** The caller's own id is one span's: of what was called first, or answered without a call. */
function keepsSpanId({ spanId, attempt, outcome }: usage.UsageRecord): boolean {
  return spanId !== '' && attempt === 0 && outcome !== usage.Outcome.DENIED;
}

function nanosOf(ms: number): bigint {
  return BigInt(Math.round(ms * 1000)) * 1000n;
}

const nothing = new Uint8Array();
