import type { JsonObject } from '@sluice/contracts';
import { googleErrorInfo, googleStatusOf } from '@sluice/errors';
import type { StreamFault } from '../../contract.ts';
import type { ErrorFacts } from '../../errors/error-facts.ts';
import { unreadable } from '../../errors/unreadable.ts';
import { arrayOf, numberOf, objectOf, parseJson, stringOf } from '../../json/json-access.ts';

/** Streams give errors as the only element of a list. */
export function decodeError(status: number, text: string): ErrorFacts {
  const parsed = parseJson(text);
  const body = objectOf(arrayOf(parsed)?.[0] ?? parsed);
  const error = objectOf(body?.error);
  const code = error?.code;
  return {
    message: stringOf(error?.message) ?? unreadable(text, status),
    type: stringOf(error?.status) ?? null,
    param: null,
    code: typeof code === 'number' ? String(code) : (stringOf(code) ?? null),
  };
}

export function encodeError(status: number, error: ErrorFacts, provider: string): JsonObject {
  return {
    error: {
      code: status,
      message: `${provider} error: ${error.message}`,
      status: googleStatusOf(status),
    },
    provider,
  };
}

/** An `error` inside a stream. */
export function faultOf(body: JsonObject): StreamFault | undefined {
  const error = objectOf(body.error);
  if (error === undefined) return undefined;
  const code = numberOf(error.code) ?? 0;
  return {
    type: stringOf(error.status) ?? 'upstream_error',
    message: stringOf(error.message) ?? 'The provider reported an error.',
    status: code >= 400 && code <= 599 ? code : 502,
  };
}

/** The clients of this format raise what stands in `error`. */
export function errorEvent(fault: StreamFault & { code?: string }): Buffer {
  const error: JsonObject = {
    code: fault.status,
    message: fault.message,
    status: googleStatusOf(fault.status),
  };
  if (fault.code !== undefined) error.details = [googleErrorInfo(fault.code)];
  return Buffer.from(`data: ${JSON.stringify({ error })}\n\n`);
}
