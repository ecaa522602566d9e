import type { ErrorShape } from '@sluice/contracts';
import type { ErrorForm } from '@sluice/contracts/admin';
import { anthropicTypeOf } from './anthropic-types.ts';
import { errorSpec } from './codes.ts';
import type { GatewayError } from './gateway-error.ts';

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

/** The body of a refusal in the words of an operation's clients. */
export const errorBodies: Readonly<
  Record<ErrorShape, (error: GatewayError, requestId: string) => Record<string, unknown>>
> = { openai: gatewayErrorBody, anthropic: anthropicErrorBody };

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
