import { type ErrorShape, errorsOf, type HeaderSpelling } from '@sluice/contracts';
import { errorBodies, type GatewayError, shapeHeaders } from '@sluice/errors';
import { agentErrorBody } from '../agents/agent-error-body.ts';
import { type Exchange, lastVisit, limitStatesOf, summaryOf } from '../exchange/exchange.ts';
import type { ReplyHeaders } from '../exchange/reply.ts';
import { spelledError } from '../http/header-names.ts';
import { limitHeaders } from '../limits/refusal.ts';
import { addCostHeaders } from '../visit/gateway-headers.ts';

/** The body of an error, in the shape the caller's client reads, naming headers as it does. */
export function errorBody(
  error: GatewayError,
  exchange: Exchange,
  spelling: HeaderSpelling,
): Buffer {
  const { subject } = exchange;
  if (subject.kind === 'agent-call') {
    const body = agentErrorBody(error, subject, exchange.arrival.requestIdText);
    if (body !== undefined) return Buffer.from(JSON.stringify(body));
  }
  const shape = errorBodies[errorsOf(subject.operation, subject.pathname)];
  return Buffer.from(
    JSON.stringify(shape(spelledError(error, spelling), exchange.arrival.requestIdText)),
  );
}

/** What a reply would have told about its way, as far as the request got. The error's own headers win. */
export function errorHeaders(error: GatewayError, exchange: Exchange): ReplyHeaders {
  const visit = lastVisit(exchange);
  const headers: ReplyHeaders = {
    'content-type': 'application/json',
    'x-service-trace-id': headerText(exchange.arrival.traceId),
    'x-service-attempts': String(exchange.progress.attempts),
    'x-service-retry-attempt-count': String(visit?.retryCount ?? 0),
    'x-service-cache-status': visit?.cacheStatus ?? 'DISABLED',
  };
  // Calls of agents are metered elsewhere.
  if (summaryOf(exchange) !== undefined) addCostHeaders(headers, exchange.progress);
  // Without a config there is nothing to point at but the provider, once it is known.
  if (visit !== undefined && (visit.target !== undefined || exchange.config !== undefined)) {
    headers['x-service-provider'] = visit.target?.entry.id ?? '';
    const slug = visit.target?.saved?.slug;
    if (slug !== undefined) headers['x-service-provider-slug'] = slug;
    headers['x-service-last-used-option-index'] = visit.planned.path;
  }
  // A fault of ours at a target must not be taken for the target's: fallbacks stop here.
  if (exchange.isRouting && error.code === 'internal')
    headers['x-service-gateway-exception'] = 'true';
  const states = limitStatesOf(exchange);
  if (states.length > 0) Object.assign(headers, limitHeaders(states, exchange.arrival.startedAtMs));
  const { operation, pathname } = exchange.subject;
  Object.assign(headers, error.headers, shapeHeaders(errorsOf(operation, pathname), error));
  nameRequest(headers, exchange);
  nameIgnored(headers, exchange);
  return headers;
}

/**
 * The request's id under the names that clients read it by, so that what they
 * show can be looked up here. What the provider said under them is kept.
 */
export function nameRequest(headers: ReplyHeaders, { arrival, subject }: Exchange): void {
  headers['x-service-request-id'] = arrival.requestIdText;
  for (const name of idHeaders[errorsOf(subject.operation, subject.pathname)]) {
    const upstreams = headers[name];
    if (upstreams !== undefined) headers['x-service-upstream-request-id'] = upstreams;
    headers[name] = arrival.requestIdText;
  }
}

/** What of the caller's own config nobody knows, by its paths. */
export function nameIgnored(headers: ReplyHeaders, { config }: Exchange): void {
  const ignored = config?.compiled.ignored ?? [];
  if (ignored.length > 0) headers['x-service-ignored-config'] = headerText(ignored.join(','));
}

const idHeaders: Readonly<Record<ErrorShape, readonly string[]>> = {
  openai: ['x-request-id'],
  anthropic: ['x-request-id', 'request-id'],
  google: ['x-request-id'],
  bedrock: ['x-request-id', 'x-amzn-requestid'],
};

/** Header values are echoed: what HTTP forbids is left out. */
export function headerText(value: string): string {
  return /^[\x20-\x7e]*$/.test(value) ? value : value.replace(/[^\x20-\x7e]/g, '');
}
