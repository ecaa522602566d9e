import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '@sluice/errors';

/**
 * Calls back once when the caller leaves before the whole answer was handed
 * over. A pipelined request waits for the answers before it without a socket of
 * its own, and not every Node tells its response when the connection ends: there
 * the connection itself is listened to.
 */
export function whenCallerGone(
  req: IncomingMessage,
  res: ServerResponse,
  listener: () => void,
): void {
  let isTold = false;
  const tell = () => {
    if (isTold || res.writableFinished) return;
    isTold = true;
    listener();
  };
  res.once('close', tell);
  if (res.socket !== null) return;
  const waiting = waitingAt(req.socket);
  waiting.add(tell);
  res.once('finish', () => waiting.delete(tell));
}

const waitingOf = new WeakMap<Socket, Set<() => void>>();

/** Who hears of the end of a connection: however many requests wait at it, it has one listener. */
function waitingAt(socket: Socket): Set<() => void> {
  const known = waitingOf.get(socket);
  if (known !== undefined) return known;
  const waiting = new Set<() => void>();
  waitingOf.set(socket, waiting);
  socket.once('close', () => {
    for (const tell of waiting) tell();
  });
  return waiting;
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

/** Rejects when the signal is aborted, with its reason; what was asked goes on. */
export function untilAborted<T>(asked: Promise<T>, signal: Abortable): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(abortReason(signal));
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    asked.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
