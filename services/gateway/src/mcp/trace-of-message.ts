import type { ArrivedRequest } from '../exchange/arrived-request.ts';
import { takeCallMark } from '../http/call-mark.ts';
import { readCallerHeaders } from '../http/caller-headers.ts';

/** As W3C has them: https://www.w3.org/TR/trace-context/, https://www.w3.org/TR/baggage/. What ends up in headers is held to them. */
const traceparentForm =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const tracestateForm = /^[\x20-\x7e]{1,512}$/;
const baggageForm = /^[\x20-\x7e]{1,8192}$/;

/**
 * The request as if the trace context in a message's `_meta` had come in headers. Headers that did come stand; what is no trace
 * context by its form stays where it is.
 */
export function withTraceOf(
  arrival: ArrivedRequest,
  meta: Readonly<Record<string, unknown>> | undefined,
): ArrivedRequest {
  if (meta === undefined) return arrival;
  const { headers } = arrival;
  const told: Record<string, string> = {};
  const { traceparent, tracestate, baggage } = meta;
  if (headers.traceparent === undefined && isOf(traceparentForm, traceparent)) {
    told.traceparent = traceparent;
    // The state of another trace is none of this one.
    if (isOf(tracestateForm, tracestate)) told.tracestate = tracestate;
  }
  if (headers.baggage === undefined && isOf(baggageForm, baggage)) told.baggage = baggage;
  if (Object.keys(told).length === 0) return arrival;
  const { tracestate: stray, ...rest } = headers;
  const isOwnTrace = told.traceparent === undefined && stray !== undefined;
  const joined = { ...rest, ...(isOwnTrace && { tracestate: stray }), ...told };
  const caller = readCallerHeaders(joined);
  const callMark = takeCallMark(joined) ?? arrival.callMark;
  return {
    ...arrival,
    headers: joined,
    caller,
    traceId: caller.traceId ?? arrival.traceId,
    callMark,
  };
}

function isOf(form: RegExp, value: unknown): value is string {
  return typeof value === 'string' && form.test(value);
}
