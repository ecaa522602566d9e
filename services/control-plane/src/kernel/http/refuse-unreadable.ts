import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { requestIdHeader, shownRequestIdHeader } from '@sluice/contracts';
import { adminErrorBody, GatewayError } from '@sluice/errors';
import { newId } from '../names/ids.ts';

const statusTexts: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/**
 * Answers what is no HTTP (control characters in headers, too many of them,
 * headers that never end) in the envelope of every other refusal. Such a
 * request never reaches the app, so the answer is written by hand.
 */
export function refuseUnreadable(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy();
    const status =
      error.code === 'HPE_HEADER_OVERFLOW'
        ? 431
        : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
          ? 408
          : 400;
    const requestId = newId();
    const refusal = new GatewayError('request.invalid_header', {
      status,
      message: 'The request cannot be read as HTTP.',
    });
    const body = JSON.stringify(adminErrorBody(refusal, requestId));
    socket.end(
      [
        `HTTP/1.1 ${status} ${statusTexts[status]}`,
        'content-type: application/json; charset=utf-8',
        `content-length: ${Buffer.byteLength(body)}`,
        `${requestIdHeader}: ${requestId}`,
        `${shownRequestIdHeader}: ${requestId}`,
        'connection: close',
        '',
        body,
      ].join('\r\n'),
    );
  });
}
