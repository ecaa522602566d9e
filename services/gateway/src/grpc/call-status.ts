import { status } from '@grpc/grpc-js';
import type { ErrorCode } from '@sluice/errors';
import { jsonBounds, readJsonText } from '@sluice/json';

/** What is no answer of the API but a failure of what stands before it; told as such whatever the setting says. */
const infrastructure: Partial<Record<ErrorCode, status>> = {
  internal: status.INTERNAL,
  overloaded: status.RESOURCE_EXHAUSTED,
  'gateway.draining': status.UNAVAILABLE,
};

export function infrastructureStatus(code: ErrorCode): status | undefined {
  return infrastructure[code];
}

const exact: Readonly<Record<number, status>> = {
  400: status.INVALID_ARGUMENT,
  401: status.UNAUTHENTICATED,
  402: status.RESOURCE_EXHAUSTED,
  403: status.PERMISSION_DENIED,
  404: status.NOT_FOUND,
  408: status.DEADLINE_EXCEEDED,
  409: status.ABORTED,
  412: status.RESOURCE_EXHAUSTED, // a budget that is spent
  413: status.INVALID_ARGUMENT,
  415: status.INVALID_ARGUMENT,
  422: status.INVALID_ARGUMENT,
  429: status.RESOURCE_EXHAUSTED,
  446: status.PERMISSION_DENIED, // a guardrail's denial
  499: status.CANCELLED,
  501: status.UNIMPLEMENTED,
  502: status.UNAVAILABLE,
  503: status.UNAVAILABLE,
  504: status.DEADLINE_EXCEEDED,
};

/** The code of gRPC for an answer of HTTP, as its own mapping and Google's APIs have it. */
export function statusOf(httpStatus: number): status {
  if (httpStatus < 400) return status.OK;
  return exact[httpStatus] ?? (httpStatus < 500 ? status.FAILED_PRECONDITION : status.INTERNAL);
}

/** What an error's body says to people, in any of the shapes that errors have; undefined = nothing that is found. */
export function messageIn(body: Buffer): string | undefined {
  if (body.length > errorBytesMax) return undefined;
  try {
    const { error, message } = readJsonText(body.toString(), jsonBounds.small) as {
      error?: { message?: unknown };
      message?: unknown;
    };
    const said = error?.message ?? message;
    return typeof said === 'string' ? said : undefined;
  } catch {
    return undefined;
  }
}

const errorBytesMax = 64 * 1024;
