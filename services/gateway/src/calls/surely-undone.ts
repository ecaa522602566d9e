import type { CalledOperation } from '@sluice/contracts';
import type { GatewayError } from '@sluice/errors';

/** What a call came to. */
interface Outcome {
  readonly status: number;
  readonly error: GatewayError | undefined;
}

/** Nothing was sent. */
const unsent: ReadonlySet<string> = new Set(['upstream.unreachable', 'upstream.connect_timeout']);
/** Refusals by which a server may mean that it is at it already. */
const unsure: ReadonlySet<number> = new Set([408, 409, 425]);

/**
 * Whether a call may be made again, there or elsewhere. What makes an object
 * may have been done though its answer is a failure: only what did not arrive,
 * or was refused, is done by nobody.
 */
export function mayBeRepeated(operation: CalledOperation, { status, error }: Outcome): boolean {
  if (operation.about !== 'object' || operation.repeat !== 'fresh') return true;
  if (error !== undefined) return unsent.has(error.code) || !error.code.startsWith('upstream.');
  return (status >= 400 && status < 500 && !unsure.has(status)) || status === 503;
}
