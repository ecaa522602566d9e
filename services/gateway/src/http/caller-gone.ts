import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '@sluice/errors';

/**
 * Calls back once when the caller leaves before the whole answer was handed
 * over. A pipelined request waits for the answers before it without a socket of
 * its own, and Node tells its response nothing when the connection ends: there
 * the connection itself is listened to.
 */
export function whenCallerGone(
  req: IncomingMessage,
  res: ServerResponse,
  listener: () => void,
): void {
  res.on('close', () => {
    if (!res.writableFinished) listener();
  });
  if (res.socket !== null) return;
  const { socket } = req;
  socket.once('close', listener);
  res.once('finish', () => socket.off('close', listener));
}

/** What a call has to know of a signal. An `AbortSignal` is one; one of ours takes a tenth to make. */
export interface Abortable {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Why a request's signal was aborted: its caller left, unless it was told otherwise. */
export function abortReason({ reason }: Pick<Abortable, 'reason'>): GatewayError {
  return reason instanceof GatewayError ? reason : new GatewayError('request.aborted');
}

/** There is nobody left to answer to; at the drain's deadline there still is. */
export function isCallerGone(signal: AbortSignal): boolean {
  return signal.aborted && abortReason(signal).code !== 'gateway.draining';
}
