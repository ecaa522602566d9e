import type { JsonObject } from '@sluice/contracts';
import { awsExceptionOf } from '@sluice/errors';
import type { StreamFault } from '../../contract.ts';
import type { ErrorFacts } from '../../errors/error-facts.ts';
import { unreadable } from '../../errors/unreadable.ts';
import { statusOfException } from '../../framing/aws-exceptions.ts';
import { objectOf, parseObject, stringOf } from '../../json/json-access.ts';
import { exception } from './wire.ts';

/** `{message}` or `{Message}`; the exception's name is in the body only now and then. */
export function decodeError(status: number, text: string): ErrorFacts {
  const body = parseObject(text);
  // A proxy before the service answers in a shape of its own.
  const source = objectOf(body?.error) ?? body;
  const type = stringOf(source?.__type) ?? stringOf(source?.type);
  return {
    message: stringOf(source?.message) ?? stringOf(source?.Message) ?? unreadable(text, status),
    type: type === undefined ? null : shortName(type),
    param: null,
    code: null,
  };
}

/** `com.amazon.coral.service#ThrottlingException:http://…` is a ThrottlingException. */
function shortName(type: string): string {
  const name = type.slice(type.lastIndexOf('#') + 1);
  return name.split(':')[0] as string;
}

export function encodeError(status: number, error: ErrorFacts, provider: string): JsonObject {
  return {
    __type: error.type ?? awsExceptionOf(status),
    message: `${provider} error: ${error.message}`,
    provider,
  };
}

/** What an exception in the place of an event says. */
export function faultOf(body: JsonObject): StreamFault {
  const type = stringOf(body.type) ?? 'internalServerException';
  const message = stringOf(body.message) ?? 'The provider reported an error.';
  return { type, message, status: statusOfException(type) ?? 502 };
}

export function errorEvent(fault: StreamFault & { code?: string }): Buffer {
  const body: JsonObject = { type: fault.type, message: fault.message };
  if (fault.code !== undefined) body.code = fault.code;
  return Buffer.from(`event: ${exception}\ndata: ${JSON.stringify(body)}\n\n`);
}
