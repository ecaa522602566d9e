import type { JsonObject } from '@sluice/contracts';
import type { StreamFault } from '../../contract.ts';
import type { ErrorFacts } from '../chat-codec.ts';
import { objectOf, parseObject, stringOf } from '../json-access.ts';
import { unreadable } from '../unreadable.ts';

/** Reads the spellings of compatible providers too: an `error` string, a bare `message` or `detail`. */
export function decodeError(status: number, text: string): ErrorFacts {
  const body = parseObject(text);
  const error = objectOf(body?.error);
  const source = error ?? body;
  const message =
    stringOf(source?.message) ??
    stringOf(body?.error) ??
    stringOf(body?.detail) ??
    unreadable(text, status);
  return {
    message,
    type: stringOf(source?.type) ?? null,
    param: stringOf(source?.param) ?? null,
    code: codeOf(source?.code),
  };
}

function codeOf(code: unknown): string | null {
  if (typeof code === 'number') return String(code);
  return stringOf(code) ?? null;
}

export function encodeError(_status: number, error: ErrorFacts, provider: string): JsonObject {
  return {
    error: {
      message: `${provider} error: ${error.message}`,
      type: error.type,
      param: error.param,
      code: error.code,
    },
    provider,
  };
}

const statuses = new Map<string, number>(
  Object.entries({
    invalid_request_error: 400,
    authentication_error: 401,
    permission_error: 403,
    not_found_error: 404,
    rate_limit_error: 429,
    rate_limit_exceeded: 429,
    insufficient_quota: 429,
    tokens: 429,
    requests: 429,
    server_error: 500,
    api_error: 500,
    overloaded_error: 529,
  }),
);

/** An `error` inside a stream; the status is the one it would have had as a plain answer. */
export function faultOf(body: JsonObject): StreamFault | undefined {
  const error = objectOf(body.error);
  const message = stringOf(error?.message) ?? stringOf(body.error);
  if (error === undefined && message === undefined) return undefined;
  const type = stringOf(error?.type) ?? stringOf(error?.code) ?? 'upstream_error';
  const code = Number(error?.code ?? body.code);
  const status = code >= 400 && code <= 599 ? code : (statuses.get(type) ?? 502);
  return { type, message: message ?? 'The provider reported an error.', status };
}

/** Ends the stream without `[DONE]`, so that a cut stream is never taken for a whole one. */
export function errorEvent(fault: StreamFault & { code?: string }): Buffer {
  const error = { message: fault.message, type: fault.type, param: null, code: fault.code ?? null };
  return Buffer.from(`data: ${JSON.stringify({ error })}\n\n`);
}
