import type { JsonObject } from '@sluice/contracts';
import { anthropicTypeOf, anthropicTypeOfStatus, statusOfAnthropicType } from '@sluice/errors';
import type { StreamFault } from '../../contract.ts';
import type { ErrorFacts } from '../../errors/error-facts.ts';
import { unreadable } from '../../errors/unreadable.ts';
import { vendorFault } from '../../errors/vendor-fault.ts';
import { objectOf, parseObject, stringOf } from '../../json/json-access.ts';

export function decodeError(status: number, text: string): ErrorFacts {
  const error = objectOf(parseObject(text)?.error);
  return {
    message: stringOf(error?.message) ?? unreadable(text, status),
    type: stringOf(error?.type) ?? null,
    param: null,
    code: null,
  };
}

export function encodeError(status: number, error: ErrorFacts, provider: string): JsonObject {
  return {
    type: 'error',
    error: { type: anthropicTypeOfStatus(status), message: `${provider} error: ${error.message}` },
    provider,
  };
}

/** An `error` event inside a stream. */
export function faultOf(body: JsonObject): StreamFault | undefined {
  const error = objectOf(body.error);
  if (body.type !== 'error' && error === undefined) return undefined;
  const type = stringOf(error?.type) ?? 'api_error';
  const message = stringOf(error?.message) ?? 'The provider reported an error.';
  const vendor = vendorFault(objectOf(error?.details)?.error_code);
  return { type, message, status: statusOfAnthropicType(type), ...vendor };
}

export function errorEvent(fault: StreamFault & { code?: string }): Buffer {
  const error: JsonObject = { type: anthropicTypeOf(fault), message: fault.message };
  if (fault.code !== undefined) error.code = fault.code;
  return Buffer.from(`event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`);
}
