import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  anthropicErrorBody,
  fromUnknown,
  type GatewayError,
  gatewayErrorBody,
} from '@sluice/errors';
import type { Logger } from '@sluice/telemetry';
import { readCallerHeaders } from '../http/caller-headers.ts';
import { readBody } from '../http/read-body.ts';
import type { GatewayMetrics } from '../metrics.ts';
import type { EndpointRoute, Exchange, Reply, ReplySink } from '../pipeline/exchange.ts';
import { uuidText, uuidV7 } from '../usage/uuid.ts';

export interface ServeDeps {
  logger: Logger;
  metrics: GatewayMetrics;
  bodyBytesMax: number;
  /** For the one event a request; undefined = none is written. */
  requestLogger: Logger | undefined;
  isDraining: () => boolean;
}

type Handler = (req: IncomingMessage & { originalUrl?: string }, res: ServerResponse) => void;

/** The one place where replies and errors of the data plane become HTTP. */
export function serve(
  route: EndpointRoute,
  run: (exchange: Exchange) => Promise<Reply>,
  deps: ServeDeps,
): Handler {
  return (req, res) => {
    const exchange = createExchange(req, res, route, deps.bodyBytesMax);
    run(exchange)
      .then((reply) => send(reply, exchange, res, deps))
      .catch((caught: unknown) => sendError(fromUnknown(caught), exchange, req, res, deps));
  };
}

function createExchange(
  req: IncomingMessage & { originalUrl?: string },
  res: ServerResponse,
  route: EndpointRoute,
  bodyBytesMax: number,
): Exchange {
  const url = req.originalUrl ?? req.url ?? '/';
  const query = url.indexOf('?');
  const startedAtMs = Date.now();
  const requestId = uuidV7(startedAtMs);
  const requestIdText = uuidText(requestId);
  const caller = readCallerHeaders(req.headers);
  const abort = new AbortController();
  res.on('close', () => {
    if (!res.writableFinished) abort.abort();
  });
  return {
    route,
    method: req.method ?? 'GET',
    pathname: query < 0 ? url : url.slice(0, query),
    search: query < 0 ? '' : url.slice(query),
    headers: req.headers,
    caller,
    requestId,
    requestIdText,
    traceId: caller.traceId ?? requestIdText,
    startedAt: performance.now(),
    startedAtMs,
    signal: abort.signal,
    readBody: () => readBody(req, bodyBytesMax),
    bodyStream: () => req,
    key: undefined,
    bundle: undefined,
    metadata: caller.metadata,
    config: undefined,
    limits: undefined,
    limitStates: [],
    body: undefined,
    json: undefined,
    model: '',
    wantsStream: false,
    attempts: 0,
    summary: undefined,
  };
}

function send(reply: Reply, exchange: Exchange, res: ServerResponse, deps: ServeDeps): void {
  const { headers } = reply;
  headers['x-service-request-id'] = exchange.requestIdText;
  headers['x-service-trace-id'] = headerText(exchange.traceId);
  if (deps.isDraining()) headers.connection = 'close';
  if (res.destroyed) {
    observe(exchange, 499, '', deps);
    if (reply.kind === 'stream') reply.pipeTo(goneSink);
    return;
  }
  if (reply.kind === 'body') {
    headers['content-length'] = String(reply.body.length);
    res.writeHead(reply.status, headers);
    res.end(reply.body);
    observe(exchange, reply.status, '', deps);
    return;
  }
  res.writeHead(reply.status, headers);
  res.once('close', () => observe(exchange, res.writableFinished ? reply.status : 499, '', deps));
  reply.pipeTo(responseSink(res));
}

function responseSink(res: ServerResponse): ReplySink {
  // The head must not wait for a first byte that may be long in coming.
  res.flushHeaders();
  return {
    write: (chunk) => res.write(chunk),
    onDrain: (listener) => void res.on('drain', listener),
    end: () => void res.end(),
    cut: () => void res.destroy(),
  };
}

/** Where bytes go when the caller left before the head was sent. The abort signal stops the upstream. */
const goneSink: ReplySink = { write: () => true, onDrain: () => {}, end: () => {}, cut: () => {} };

function sendError(
  error: GatewayError,
  exchange: Exchange,
  req: IncomingMessage,
  res: ServerResponse,
  deps: ServeDeps,
): void {
  if (error.status >= 500 && error.code === 'internal')
    deps.logger.error(
      { err: error.cause ?? error, request_id: exchange.requestIdText },
      'a request failed on our side',
    );
  observe(exchange, error.status, error.code, deps);
  if (res.headersSent || res.destroyed) {
    res.destroy();
    return;
  }
  const body = Buffer.from(
    JSON.stringify(
      exchange.route.endpoint === 'messages'
        ? anthropicErrorBody(error, exchange.requestIdText)
        : gatewayErrorBody(error, exchange.requestIdText),
    ),
  );
  const unread = !req.complete;
  res.writeHead(error.status, {
    'content-type': 'application/json',
    'content-length': body.length,
    'x-service-request-id': exchange.requestIdText,
    'x-service-trace-id': headerText(exchange.traceId),
    'x-service-retry-attempt-count': '0',
    'x-service-cache-status': 'DISABLED',
    ...error.headers,
    ...(unread || deps.isDraining() ? { connection: 'close' } : {}),
  });
  res.end(body);
  if (unread) discardRest(req);
}

/**
 * Reads on for a moment after an early refusal: closing a socket with unread
 * data resets it, and the caller would lose the answer that says why.
 */
function discardRest(req: IncomingMessage): void {
  req.on('error', () => {});
  req.resume();
  const timer = setTimeout(() => req.socket.destroy(), lingerMs);
  req.socket.once('close', () => clearTimeout(timer));
  timer.unref();
}

const lingerMs = 5000;

/** One wide event and the request's metrics. */
function observe(exchange: Exchange, status: number, errorCode: string, deps: ServeDeps): void {
  const latencyMs = performance.now() - exchange.startedAt;
  const { summary } = exchange;
  deps.metrics.observeRequest(
    exchange.method,
    exchange.route.endpoint,
    status,
    exchange.wantsStream,
    latencyMs,
    summary,
  );
  if (deps.requestLogger === undefined) return;
  deps.requestLogger.info(
    {
      request_id: exchange.requestIdText,
      trace_id: exchange.traceId,
      endpoint: exchange.route.endpoint,
      method: exchange.method,
      status,
      error_code: errorCode === '' ? undefined : errorCode,
      organisation_id: exchange.key?.source.organisationId,
      workspace_id: exchange.key?.source.workspaceId,
      api_key_id: exchange.key?.source.id,
      provider: summary?.provider,
      model: summary?.model ?? exchange.model,
      stream: exchange.wantsStream,
      attempts: exchange.attempts,
      input_tokens: summary?.inputTokens,
      output_tokens: summary?.outputTokens,
      cost_nano_usd: summary?.costNanoUsd,
      latency_ms: round(latencyMs),
      upstream_ms: summary === undefined ? undefined : round(summary.upstreamMs),
    },
    'request',
  );
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}

/** Header values are echoed: what HTTP forbids is left out. */
function headerText(value: string): string {
  return /^[\x20-\x7e]*$/.test(value) ? value : value.replace(/[^\x20-\x7e]/g, '');
}
