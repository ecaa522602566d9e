import type {
  ExportLogsServiceRequestSchema,
  ExportTraceServiceRequestSchema,
  readExport,
} from '@sluice/otlp';
import { Status_StatusCode } from '@sluice/otlp';
import type { CallPlace } from './record-of-call.ts';
import { readAttributes, readCall, type ToldCall } from './told-call.ts';

/** What an export comes to: calls, and how many of its parts are none. */
export interface ReadCalls {
  readonly calls: readonly { readonly call: ToldCall; readonly place: CallPlace }[];
  readonly rejected: number;
  /** Why, for whoever looks after the exporter; undefined = nothing is rejected. */
  readonly reason: string | undefined;
}

type Traces = ReturnType<typeof readExport<typeof ExportTraceServiceRequestSchema>>;
type Logs = ReturnType<typeof readExport<typeof ExportLogsServiceRequestSchema>>;

export function callsOfTraces({ resourceSpans }: Traces, nowMs: number): ReadCalls {
  const reading = new Reading(nowMs);
  for (const [of, { resource, scopeSpans }] of resourceSpans.entries()) {
    const shared = readAttributes(resource?.attributes ?? []);
    for (const [within, { spans }] of scopeSpans.entries())
      for (const [at, span] of spans.entries()) {
        const startMs = msOf(span.startTimeUnixNano);
        reading.add(
          `resourceSpans[${of}].scopeSpans[${within}].spans[${at}]`,
          readCall(readAttributes(span.attributes), shared),
          {
            ...span,
            spanName: span.name,
            startMs,
            endMs: Math.max(startMs, msOf(span.endTimeUnixNano)),
            hasFailed: span.status?.code === Status_StatusCode.ERROR,
          },
          'startTimeUnixNano',
        );
      }
  }
  return reading.read;
}

/** Of logs the one event that tells a whole call; those of single messages do not say what it cost. */
export function callsOfLogs({ resourceLogs }: Logs, nowMs: number): ReadCalls {
  const reading = new Reading(nowMs);
  for (const [of, { resource, scopeLogs }] of resourceLogs.entries()) {
    const shared = readAttributes(resource?.attributes ?? []);
    for (const [within, { logRecords }] of scopeLogs.entries())
      for (const [at, log] of logRecords.entries()) {
        const attributes = readAttributes(log.attributes);
        const name = log.eventName || attributes.get('event.name');
        const atMs = msOf(log.timeUnixNano || log.observedTimeUnixNano);
        reading.add(
          `resourceLogs[${of}].scopeLogs[${within}].logRecords[${at}]`,
          name === callEvent ? readCall(attributes, shared) : undefined,
          {
            traceId: log.traceId,
            spanId: log.spanId,
            parentSpanId: nothing,
            spanName: callEvent,
            startMs: atMs,
            endMs: atMs,
            hasFailed: false,
          },
          'timeUnixNano',
        );
      }
  }
  return reading.read;
}

const callEvent = 'gen_ai.client.inference.operation.details';
const nothing = new Uint8Array();

class Reading {
  readonly #calls: { call: ToldCall; place: CallPlace }[] = [];
  readonly #nowMs: number;
  #rejected = 0;
  #reason: string | undefined;

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  get read(): ReadCalls {
    return { calls: this.#calls, rejected: this.#rejected, reason: this.#reason };
  }

  add(path: string, call: ToldCall | undefined, place: CallPlace, timeName: string): void {
    const fault = this.#faultOf(call, place, timeName);
    if (call !== undefined && fault === undefined) this.#calls.push({ call, place });
    else {
      this.#rejected++;
      this.#reason ??= `${path}${fault ?? ' tells of no call of a model, and is not kept'}`;
    }
  }

  #faultOf(call: ToldCall | undefined, place: CallPlace, timeName: string): string | undefined {
    if (call === undefined) return undefined;
    if (place.traceId.length !== 16) return '.traceId must have 16 bytes';
    if (place.spanId.length !== 8) return '.spanId must have 8 bytes';
    const { startMs } = place;
    if (startMs < this.#nowMs - oldestMs || startMs > this.#nowMs + newestMs)
      return `.${timeName} must lie within the last 30 days`;
    return undefined;
  }
}

const oldestMs = 30 * 24 * 60 * 60 * 1000;
/** Clocks differ. */
const newestMs = 60 * 60 * 1000;

function msOf(nanos: bigint): number {
  return Number(nanos / 1_000n) / 1_000;
}
