import type { JsonObject } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';

/**
 * Where threads are not kept, who begins one is served without, and who goes on
 * with one is asked for the whole conversation, as by a vendor that has forgotten it.
 * @throws GatewayError('request.thread_not_found')
 */
export function forgetThread(thread: JsonObject | undefined, dropped: string[]): void {
  if (thread === undefined) return;
  if (thread.type === 'continue')
    throw new GatewayError('request.thread_not_found', { field: 'body.thread' });
  dropped.push('thread');
}
