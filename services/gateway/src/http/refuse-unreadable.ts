import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import {
  type HeaderPrefixes,
  type HeaderSpelling,
  spelledHeaders,
  spellingOf,
  vendorErrorsAt,
} from '@sluice/contracts';
import { errorBodies, GatewayError, shapeHeaders } from '@sluice/errors';
import {
  answerUnreadable,
  endByHand,
  type UnreadableStatus,
  type WrittenAnswer,
} from '@sluice/service';
import { discardRest } from './discard-rest.ts';
import { spelledError } from './header-names.ts';
import { requestTarget } from './request-target.ts';

export interface ReadBounds {
  readonly headerBytesMax: number;
  readonly headersTimeoutMs: number;
}

/** Has what Node refuses before there is a request, or before anybody is asked, refused in the words of every other refusal. */
export function refuseUnreadable(server: Server, prefixes: HeaderPrefixes, bounds: ReadBounds) {
  answerUnreadable(server, (status) =>
    written(unreadable(status, bounds), prefixes, spellingOf(prefixes, {}), '/'),
  );
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => {
    const error = new GatewayError('request.expectation_failed', { field: 'expect' });
    const answer = written(error, prefixes, spellingOf(prefixes, req.headers), req.url ?? '/');
    res.writeHead(error.status, answer.headers);
    res.end(answer.body);
    if (!req.complete) discardRest(req);
  });
  server.on('connect', (req: IncomingMessage, socket) => {
    socket.on('error', () => {});
    const error = new GatewayError('request.method_not_allowed', {
      message: 'CONNECT is not allowed: this is no proxy.',
    });
    const spelling = spellingOf(prefixes, req.headers);
    endByHand(socket, error.status, written(error, prefixes, spelling, '/'));
  });
}

function unreadable(status: UnreadableStatus, bounds: ReadBounds): GatewayError {
  switch (status) {
    case 431:
      return new GatewayError('request.headers_too_large', {
        field: 'headers',
        message: `The request line and the headers, or what follows a chunked body, are too many or larger than ${bounds.headerBytesMax} bytes.`,
      });
    case 413:
      return new GatewayError('request.too_large', {
        field: 'body',
        message: 'The chunks of the request body carry more than 16384 bytes of extensions.',
      });
    case 408:
      return new GatewayError('request.timeout', {
        field: 'headers',
        message: `The headers of the request did not arrive within ${bounds.headersTimeoutMs} ms.`,
      });
    default:
      return new GatewayError('request.unreadable');
  }
}

function written(
  error: GatewayError,
  prefixes: HeaderPrefixes,
  spelling: HeaderSpelling,
  url: string,
): WrittenAnswer {
  const requestId = randomUUID();
  const shape = vendorErrorsAt(requestTarget(url).replace(/\?.*$/s, '')) ?? 'openai';
  const headers = spelledHeaders(prefixes, spelling, {
    'content-type': 'application/json',
    'x-service-request-id': requestId,
    ...error.headers,
    ...shapeHeaders(shape, error),
  });
  return {
    headers: headers as Record<string, string>,
    body: JSON.stringify(errorBodies[shape](spelledError(error, spelling), requestId)),
  };
}
