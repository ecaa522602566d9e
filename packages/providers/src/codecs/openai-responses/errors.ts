import type { JsonObject } from '@sluice/contracts';
import type { StreamFault } from '../../contract.ts';
import { objectOf, stringOf } from '../../json/json-access.ts';
import { faultOf as chatFaultOf } from '../openai-chat/errors.ts';

/** The error of an `error` event, of a failed response, or of a body in the chat format's shape. */
export function faultOf(body: JsonObject): StreamFault | undefined {
  const nested = objectOf(body.error) ?? objectOf(objectOf(body.response)?.error);
  if (nested !== undefined) return chatFaultOf({ error: typed(nested) });
  if (body.type !== 'error' && body.type !== 'response.failed') return undefined;
  const { code, message } = body;
  return chatFaultOf({
    error: typed({
      code: code ?? null,
      message: stringOf(message) ?? 'The provider reported an error.',
    }),
  });
}

/** Failed responses name what went wrong in `code` alone. */
function typed(error: JsonObject): JsonObject {
  return { ...error, type: stringOf(error.type) ?? stringOf(error.code) ?? 'server_error' };
}

/**
 * The fields stand as the format has them, and once more under `error`, where
 * clients look for what they raise. The number is known only to whoever counts.
 */
export function errorText(fault: StreamFault & { code?: string }, sequence?: number): string {
  const { type, message } = fault;
  const code = fault.code ?? type;
  const event = {
    type: 'error',
    ...(sequence === undefined ? {} : { sequence_number: sequence }),
    code,
    message,
    param: null,
    error: { type, code, message, param: null },
  };
  return `event: error\ndata: ${JSON.stringify(event)}\n\n`;
}

export function errorEvent(fault: StreamFault & { code?: string }): Buffer {
  return Buffer.from(errorText(fault));
}
