import type { JsonObject } from '@sluice/contracts';
import type { StreamFault } from '../../contract.ts';
import type { ErrorFacts } from '../../errors/error-facts.ts';

export { readVendorError as decodeError } from '../../errors/read-vendor-error.ts';

/** A flat message is all that the format tells of an error. */
export function encodeError(_status: number, error: ErrorFacts, provider: string): JsonObject {
  return { message: `${provider} error: ${error.message}`, provider };
}

/** The format has no event for errors but an end that says so. */
export function errorEvent(fault: StreamFault & { code?: string }): Buffer {
  const delta = { finish_reason: 'ERROR', error: fault.message };
  return Buffer.from(
    `event: message-end\ndata: ${JSON.stringify({ type: 'message-end', delta })}\n\n`,
  );
}
