import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  type EndpointOperation,
  type HeaderSpelling,
  operations,
  spelledHeaders,
  spellingOf,
} from '@sluice/contracts';
import { fromUnknown, GatewayError } from '@sluice/errors';
import { WebSocketServer } from 'ws';
import { type Exchange, type ModelExchange, openExchange } from '../exchange/exchange.ts';
import type { Reply, ReplyHeaders } from '../exchange/reply.ts';
import { modelCall } from '../exchange/subject.ts';
import { abortReason } from '../http/caller-gone.ts';
import { headerText, nameIgnored, nameRequest } from '../routes/error-reply.ts';
import { openArrival } from '../routes/open-arrival.ts';
import { observe, type ServeDeps, send, sendError } from '../routes/serve.ts';
import { EarlyBytes } from './early-bytes.ts';
import { type OpenedSession, sessionOf } from './open-session.ts';
import { Session } from './session.ts';
import type { Sessions } from './sessions.ts';
import { readProtocols, spokenProtocol } from './sub-protocols.ts';

export interface ServeSessionsParts extends ServeDeps {
  /** Ends in a 101 that nobody has sent yet, or in the answer that is sent in its place. */
  readonly run: (exchange: Exchange) => Promise<Reply>;
  readonly sessions: Sessions;
  readonly frameBytesMax: number;
}

const byPath: ReadonlyMap<string, EndpointOperation> = new Map(
  [operations.realtime, operations.realtimeTranslation, operations.responseSession].map(
    (operation) => [operation.at.slice(operation.at.indexOf(' ') + 1), operation],
  ),
);

/**
 * Whether a request is for the upgrade listener; `Upgrade: h2c` and the like are ordinary requests. So is one that cannot be a handshake,
 * but at a path that takes nothing else.
 */
export function isWebSocketUpgrade({ method, url = '', headers }: IncomingMessage): boolean {
  if (headers.upgrade?.toLowerCase() !== 'websocket') return false;
  return method === 'GET' || byPath.has(withoutQuery(url));
}

/**
 * Requests that would become WebSockets. Everything is judged, and the provider's
 * side open, before the caller's is: until then each refusal is an answer of HTTP.
 */
export function serveSessions(parts: ServeSessionsParts) {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: parts.frameBytesMax,
    skipUTF8Validation: true,
    handleProtocols: (offered) => (offered.has(spokenProtocol) ? spokenProtocol : false),
  });
  const accepted = new WeakMap<IncomingMessage, ReplyHeaders>();
  server.on('headers', (lines, req) => {
    for (const [name, value] of Object.entries(accepted.get(req) ?? {}))
      for (const each of [value].flat()) lines.push(`${name}: ${headerText(each)}`);
  });

  return (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // Nobody listens any more.
    socket.on('error', () => {});
    hideKey(req);
    const res = responseOn(req, socket);
    if (res === undefined) return void socket.destroy();
    const early = new EarlyBytes(socket, head);
    const leave = () => socket.destroy();
    socket.once('end', leave);
    const abort = new AbortController();
    const spelling = spellingOf(parts.headerPrefixes, req.headers);
    const operation = byPath.get(withoutQuery(req.url ?? ''));
    const exchange = createExchange(req, res, operation ?? operations.realtime, parts, abort);
    const serving = { ...parts, name: exchange.subject.operation.id };

    const accept = (reply: Reply, opened: OpenedSession) => {
      socket.off('end', leave);
      accepted.set(req, headersOf(reply, exchange, spelling, parts));
      observe(exchange, 101, '', serving);
      server.handleUpgrade(req, socket, early.take(), (caller) => {
        const ended = parts.openStreams.open();
        const session = new Session(caller, opened, exchange, () => {
          parts.sessions.delete(session);
          ended();
          opened.leave();
        });
        parts.sessions.add(session);
        // It was asked to wait for whoever listens.
        socket.resume();
        abort.signal.addEventListener('abort', () => {
          if (isDrained(abort.signal)) parts.sessions.endDraining(session);
        });
      });
    };

    run(req, exchange, operation)
      .then((reply) => {
        const session = sessionOf(exchange);
        if (session === undefined) send(reply, exchange, spelling, req, res, serving);
        else if (abort.signal.aborted || socket.destroyed) {
          session.giveUp();
          throw abortReason(abort.signal);
        } else accept(reply, session);
      })
      .catch((caught: unknown) => {
        // Whatever is still under way has nobody left to answer to.
        abort.abort();
        sendError(fromUnknown(caught), exchange, spelling, req, res, serving);
      })
      .catch((fault: unknown) => {
        parts.logger.error(
          { err: fault, request_id: exchange.arrival.requestIdText },
          'no answer was sent',
        );
        socket.destroy();
      });
  };

  async function run(
    req: IncomingMessage,
    exchange: ModelExchange,
    operation: EndpointOperation | undefined,
  ): Promise<Reply> {
    if (operation === undefined) throw new GatewayError('request.route_not_found');
    expectHandshake(req);
    return parts.run(exchange);
  }
}

/** A key that was shown as a sub-protocol is one from here on, and nothing else. */
function hideKey({ headers }: IncomingMessage): void {
  const { key, header } = readProtocols(headers['sec-websocket-protocol']);
  if (header === undefined) delete headers['sec-websocket-protocol'];
  else headers['sec-websocket-protocol'] = header;
  if (key !== undefined && headers.authorization === undefined)
    headers.authorization = `Bearer ${key}`;
}

/** What answers of HTTP are written to; undefined = an answer before it is under way on the same connection. */
function responseOn(req: IncomingMessage, socket: Duplex): ServerResponse | undefined {
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  try {
    res.assignSocket(socket as Socket);
  } catch {
    return undefined;
  }
  res.once('finish', () => (socket as Socket).destroySoon());
  return res;
}

function createExchange(
  req: IncomingMessage,
  res: ServerResponse,
  operation: EndpointOperation,
  parts: ServeSessionsParts,
  abort: AbortController,
): ModelExchange {
  const owner = () => exchange.key?.source.workspaceId ?? '';
  const arrival = openArrival(req, res, parts, { abort, owner });
  const subject = modelCall(operation, arrival.pathname, arrival.search);
  const exchange: ModelExchange = openExchange(arrival, subject);
  return exchange;
}

/** What `ws` would refuse in its own words, when it is too late for ours. @throws GatewayError */
function expectHandshake({ method, headers }: IncomingMessage): void {
  if (method !== 'GET')
    throw new GatewayError('request.method_not_allowed', { headers: { allow: 'GET' } });
  const key = headers['sec-websocket-key'];
  if (key === undefined || !/^[+/0-9A-Za-z]{22}==$/.test(key))
    throw invalid('sec-websocket-key', 'must be 16 bytes in base64');
  const version = headers['sec-websocket-version'];
  if (version !== '13' && version !== '8')
    throw new GatewayError('request.upgrade_required', {
      field: 'sec-websocket-version',
      message: 'Of WebSocket, version 13 is spoken here.',
      headers: { upgrade: 'websocket', 'sec-websocket-version': '13, 8' },
    });
  const protocols = headers['sec-websocket-protocol'];
  if (protocols !== undefined && !areProtocols(protocols))
    throw invalid('sec-websocket-protocol', 'must be a list of different names');
}

function areProtocols(header: string): boolean {
  const names = header.split(',').map((part) => part.trim());
  return (
    new Set(names).size === names.length &&
    names.every((name) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
  );
}

function invalid(field: string, what: string): GatewayError {
  return new GatewayError('request.invalid_header', { field, message: `${field} ${what}.` });
}

function isDrained(signal: AbortSignal): boolean {
  return abortReason(signal).code === 'gateway.draining';
}

function headersOf(
  { headers }: Reply,
  exchange: Exchange,
  spelling: HeaderSpelling,
  { headerPrefixes }: ServeSessionsParts,
): ReplyHeaders {
  nameRequest(headers, exchange);
  nameIgnored(headers, exchange);
  headers['x-service-trace-id'] = headerText(exchange.arrival.traceId);
  return spelledHeaders(headerPrefixes, spelling, headers);
}

function withoutQuery(url: string): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}
