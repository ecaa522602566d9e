import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Arrival,
  type CalledOperation,
  type HeaderPrefixes,
  type HeaderSpelling,
  spelledHeaders,
  spellingOf,
} from '@sluice/contracts';
import { type ErrorCode, fromUnknown, type GatewayError } from '@sluice/errors';
import { notePassingBytes } from '@sluice/service';
import type { Logger, RequestLog } from '@sluice/telemetry';
import { type Exchange, lastVisit, openExchange, summaryOf } from '../exchange/exchange.ts';
import type { Reply, ReplyHeaders, ReplySink } from '../exchange/reply.ts';
import { modelCall, type Subject } from '../exchange/subject.ts';
import { ChunkedBody } from '../http/chunked-body.ts';
import { expectRest } from '../http/discard-rest.ts';
import { endWith } from '../http/end-with.ts';
import type { HeldBytes } from '../http/held-bytes.ts';
import type { OpenStreams } from '../http/open-streams.ts';
import type { RequestsUnderWay } from '../http/requests-under-way.ts';
import type { SlowBodies } from '../http/slow-bodies.ts';
import type { GatewayMetrics } from '../metrics.ts';
import { errorBody, errorHeaders, headerText, nameIgnored, nameRequest } from './error-reply.ts';
import { openArrival } from './open-arrival.ts';

export interface ServeDeps {
  logger: Logger;
  metrics: Pick<GatewayMetrics, 'observeRequest'>;
  bodyBytesMax: { readonly json: number; readonly form: number };
  slowBodies: SlowBodies;
  heldBytes: HeldBytes;
  openStreams: OpenStreams;
  underWay: RequestsUnderWay;
  headerPrefixes: HeaderPrefixes;
  /** For the one event a request; undefined = none is written. */
  requestLog: RequestLog | undefined;
  isDraining: () => boolean;
  readArrival: (req: IncomingMessage) => Arrival;
}

/** What is asked at an address that is no endpoint's. */
export interface Asking {
  /** Of its operation. */
  readonly id: string;
  readonly open: (pathname: string, search: string) => Subject;
}

type Handler = (req: IncomingMessage & { originalUrl?: string }, res: ServerResponse) => void;

/** What serving one route needs: `name` is its endpoint in metrics and logs. */
export interface Serving extends ServeDeps {
  name: string;
}

/**
 * The one place where replies and errors of the data plane become HTTP. `name`
 * is for what is not counted under its endpoint.
 */
export function serve(
  asked: CalledOperation | Asking,
  run: (exchange: Exchange, spelling: HeaderSpelling) => Promise<Reply>,
  shared: ServeDeps,
  name: string = asked.id,
): Handler {
  const deps: Serving = { ...shared, name };
  return (req, res) => {
    const abort = new AbortController();
    const spelling = spellingOf(deps.headerPrefixes, req.headers);
    const exchange = createExchange(req, res, asked, deps, abort);
    const fail = (caught: unknown): void => {
      try {
        // Whatever is still under way has nobody left to answer to.
        abort.abort();
        sendError(fromUnknown(caught), exchange, spelling, req, res, deps);
      } catch (fault) {
        deps.logger.error(
          { err: fault, request_id: exchange.arrival.requestIdText },
          'no answer was sent',
        );
        res.destroy();
      }
    };
    // One handler, and so one turn of the microtasks, not one for each that might fail.
    void run(exchange, spelling).then((reply) => {
      try {
        send(reply, exchange, spelling, req, res, deps);
      } catch (caught) {
        fail(caught);
      }
    }, fail);
  };
}

function createExchange(
  req: IncomingMessage & { originalUrl?: string },
  res: ServerResponse,
  asked: CalledOperation | Asking,
  deps: ServeDeps,
  abort: AbortController,
): Exchange {
  const owner = () => exchange.key?.source.workspaceId ?? '';
  const arrival = openArrival(req, res, deps, { abort, owner });
  const { pathname, search } = arrival;
  const subject =
    'open' in asked ? asked.open(pathname, search) : modelCall(asked, pathname, search);
  const exchange: Exchange = openExchange(arrival, subject);
  return exchange;
}

/** Sends what a pipeline came to. */
export function send(
  reply: Reply,
  exchange: Exchange,
  spelling: HeaderSpelling,
  req: IncomingMessage,
  res: ServerResponse,
  deps: Serving,
): void {
  const { headers } = reply;
  tellWay(headers, exchange);
  if (deps.isDraining()) headers.connection = 'close';
  if (res.destroyed) {
    observe(exchange, 499, '', deps);
    if (reply.kind === 'stream') reply.pipeTo(goneSink);
    return;
  }
  // An upstream, or a check, may answer before there is the whole request.
  expectRest(req, res);
  if (reply.kind === 'body') {
    headers['content-length'] = String(reply.body.length);
    res.writeHead(reply.status, spelledHeaders(deps.headerPrefixes, spelling, headers));
    endWith(res, reply.body);
    observe(exchange, reply.status, '', deps);
    return;
  }
  try {
    res.writeHead(reply.status, spelledHeaders(deps.headerPrefixes, spelling, headers));
  } catch (error) {
    // A head that cannot be sent: the attempt still has to end, and leave its record.
    reply.pipeTo(goneSink);
    throw error;
  }
  let cutCode = '';
  const ended = deps.openStreams.open();
  res.once('close', () => {
    ended();
    const wasWhole = res.writableFinished || cutCode !== '';
    observe(exchange, wasWhole ? reply.status : 499, cutCode, deps);
  });
  const sink = responseSink(res, (code) => (cutCode = code));
  reply.pipeTo(sink);
  // The head goes with what there is already, and does not wait for a first byte that may be long in coming.
  if (!sink.hasWritten()) res.flushHeaders();
}

/** What every reply tells of its request, by whatever it goes. */
export function tellWay(headers: ReplyHeaders, exchange: Exchange): void {
  nameRequest(headers, exchange);
  nameIgnored(headers, exchange);
  headers['x-service-attempts'] = String(exchange.progress.attempts);
  headers['x-service-trace-id'] = headerText(exchange.arrival.traceId);
}

function responseSink(
  res: ServerResponse,
  onCut: (code: ErrorCode) => void,
): ReplySink & { hasWritten(): boolean } {
  const body = new ChunkedBody(res);
  let hasWritten = false;
  return {
    hasWritten: () => hasWritten,
    write(chunk) {
      hasWritten = true;
      notePassingBytes(chunk.length);
      return body.write(chunk);
    },
    onDrain: (listener) => void res.on('drain', listener),
    end: () => body.end(),
    cut(code) {
      onCut(code);
      res.destroy();
    },
  };
}

/** Where bytes go when the caller left before the head was sent. The abort signal stops the upstream. */
export const goneSink: ReplySink = {
  write: () => true,
  onDrain: () => {},
  end: () => {},
  cut: () => {},
};

/** Sends an error in its place. */
export function sendError(
  error: GatewayError,
  exchange: Exchange,
  spelling: HeaderSpelling,
  req: IncomingMessage,
  res: ServerResponse,
  deps: Serving,
): void {
  observeError(error, exchange, deps);
  if (res.headersSent || res.destroyed) {
    res.destroy();
    return;
  }
  const body = errorBody(error, exchange, spelling);
  expectRest(req, res);
  res.writeHead(
    error.status,
    spelledHeaders<string | number>(deps.headerPrefixes, spelling, {
      ...errorHeaders(error, exchange),
      'content-length': body.length,
      ...(deps.isDraining() ? { connection: 'close' } : {}),
    }),
  );
  res.end(body);
}

/** The event of a request that ends by an error, and a line of the log for a fault of ours. */
export function observeError(error: GatewayError, exchange: Exchange, deps: Serving): void {
  if (error.status >= 500 && error.code === 'internal')
    deps.logger.error(
      { err: error.cause ?? error, request_id: exchange.arrival.requestIdText },
      'a request failed on our side',
    );
  observe(exchange, error.status, error.code, deps);
}

/** One wide event and the request's metrics. */
export function observe(
  exchange: Exchange,
  status: number,
  errorCode: string,
  deps: Pick<Serving, 'metrics' | 'requestLog' | 'name'>,
): void {
  const latencyMs = performance.now() - exchange.arrival.startedAt;
  const summary = summaryOf(exchange);
  const visit = lastVisit(exchange);
  const { subject, progress } = exchange;
  const call = subject.kind === 'model-call' ? subject : undefined;
  const wantsStream =
    call?.wantsStream === true || (subject.kind === 'agent-call' && subject.wantsStream);
  deps.metrics.observeRequest(
    exchange.arrival.method,
    deps.name,
    status,
    wantsStream,
    latencyMs,
    summary,
    visit?.cacheStatus ?? 'DISABLED',
    exchange,
  );
  if (deps.requestLog === undefined) return;
  deps.requestLog.add({
    request_id: exchange.arrival.requestIdText,
    trace_id: exchange.arrival.traceId,
    endpoint: deps.name,
    method: exchange.arrival.method,
    status,
    error_code: errorCode || summary?.errorCode || undefined,
    failure_cause: visit?.failureCause,
    organisation_id: exchange.key?.source.organisationId,
    workspace_id: exchange.key?.source.workspaceId,
    api_key_id: exchange.key?.source.id,
    provider: summary?.provider,
    provider_slug: visit?.target?.saved?.slug,
    model: summary?.model ?? call?.model,
    stream: wantsStream,
    attempts: progress.attempts,
    input_tokens: summary && progress.inputTokens,
    output_tokens: summary && progress.outputTokens,
    cost_nano_usd: summary !== undefined && !progress.lacksPrice ? progress.costNanoUsd : undefined,
    latency_ms: round(latencyMs),
    upstream_ms: summary === undefined ? undefined : round(summary.upstreamMs),
  });
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
