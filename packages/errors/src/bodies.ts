import type { ErrorShape } from '@sluice/contracts';
import type { ErrorForm } from '@sluice/contracts/admin';
import { anthropicTypeOf } from './anthropic-types.ts';
import { awsExceptionOf } from './aws-exceptions.ts';
import { type ErrorCode, errorSpec } from './codes.ts';
import type { GatewayError } from './gateway-error.ts';
import { googleError } from './google-errors.ts';

/**
 * The gateway's error body: readable as envelope A (`status`, `message`), as
 * OpenAI's (`error.message`, `type`, `param`, `code`), and for refused
 * credentials as the admin API's (`success`, `data`).
 */
export function gatewayErrorBody(error: GatewayError, requestId: string): Record<string, unknown> {
  const spec = errorSpec(error.code);
  const body: Record<string, unknown> = {
    status: 'failure',
    message: error.message,
    error: {
      message: error.message,
      type: error.type,
      param: error.vendor?.param ?? error.field ?? null,
      code: error.vendor?.code ?? error.code,
      ...(error.field === undefined ? {} : { field: error.field }),
    },
    request_id: requestId,
  };
  if (error.faults !== undefined) body.errors = error.faults;
  if (error.status === 401 || error.status === 403) {
    body.success = false;
    body.data = { message: error.message, errorCode: spec.admin ?? 'AB03' };
  }
  return body;
}

/** Anthropic's shape. */
function anthropicErrorBody(error: GatewayError, requestId: string): Record<string, unknown> {
  const detail = errorSpec(error.code).detail ?? error.vendor?.code;
  return {
    ...gatewayErrorBody(error, requestId),
    type: 'error',
    error: {
      type: anthropicTypeOf(error),
      message: error.message,
      code: error.code,
      ...(detail !== undefined && { details: { error_code: detail } }),
    },
  };
}

/** Google's shape and nothing beside it: its clients take `status` and `message` of the body itself for those of the error. */
function googleErrorBody(error: GatewayError, requestId: string): Record<string, unknown> {
  return { error: googleError(error, requestId) };
}

/** Bedrock's shape, whose clients know an error by its exception. */
function bedrockErrorBody(error: GatewayError, requestId: string): Record<string, unknown> {
  return { ...gatewayErrorBody(error, requestId), __type: awsExceptionOf(error.status) };
}

/** The body of a refusal in the words of an operation's clients. */
export const errorBodies: Readonly<
  Record<ErrorShape, (error: GatewayError, requestId: string) => Record<string, unknown>>
> = {
  openai: gatewayErrorBody,
  anthropic: anthropicErrorBody,
  google: googleErrorBody,
  bedrock: bedrockErrorBody,
};

/** Refusals of a key that is the same when it is shown again; a newer one may have been made of an expired one, or of a token. */
const refusesKey: ReadonlySet<ErrorCode> = new Set([
  'auth.missing_key',
  'auth.invalid_key',
  'auth.suspended_key',
]);

/**
 * What the clients of a shape read of a refusal in headers. Claude Code asks again ten times, for minutes and without a
 * word, after a 401 in any of its modes and a 403 of a cloud, as its credentials may be new then.
 */
export function shapeHeaders(
  shape: ErrorShape,
  { status, code }: Pick<GatewayError, 'status' | 'code'>,
): Readonly<Record<string, string>> {
  if (shape !== 'anthropic' && shape !== 'bedrock') return {};
  const isFinal = status === 403 || refusesKey.has(code);
  return {
    ...(shape === 'bedrock' && { 'x-amzn-errortype': awsExceptionOf(status) }),
    ...(isFinal && { 'x-should-retry': 'false' }),
  };
}

/** The body of a guardrail's denial: clients of other gateways tell it by its type, and find its code null. */
export function denialBody(
  shape: ErrorShape,
  error: GatewayError,
  requestId: string,
): Record<string, unknown> {
  const body = errorBodies[shape](error, requestId);
  return shape === 'google' ? body : { ...body, error: { ...(body.error as object), code: null } };
}

/** The admin API's envelope, in the form that the family of the operation has. */
export function adminErrorBody(
  error: GatewayError,
  requestId: string,
  form: ErrorForm = 'usual',
): Record<string, unknown> {
  if (form === 'text') return { error: error.message };
  if (form === 'gateway') return gatewayErrorBody(error, requestId);
  const { type, code, field: param = null } = error;
  const message =
    form === 'virtual-key' && error.status === 401 ? 'Unauthorised Request' : error.message;
  return {
    success: false,
    data: {
      message,
      errorCode: errorSpec(error.code).admin ?? 'AB04',
      code: error.code,
      ...(error.field === undefined ? {} : { field: error.field }),
      ...(error.faults === undefined ? {} : { errors: error.faults }),
      request_id: requestId,
    },
    ...(form === 'with-error' ? { error: { type, message, param, code } } : {}),
  };
}
