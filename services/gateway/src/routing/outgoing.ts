import { GatewayError } from '@sluice/errors';
import {
  type CallContext,
  type JsonObject,
  prepareCall,
  type WireCall,
  withRequestHeaders,
} from '@sluice/providers';
import type { Dispatcher } from 'undici';
import { carriesBody } from '../http/body-stream.ts';
import { replaceTopLevelString } from '../http/edit-json.ts';
import { hasDotSegment, withoutTrailingSlashes } from '../http/request-target.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { checkUpstreamUrl, type HostRules } from '../upstream/host-rules.ts';
import type { Target } from './target.ts';
import { proxyHeaders, unifiedHeaders } from './upstream-headers.ts';

/** What will be sent, decided before anything is reserved or spent. */
export interface Outgoing {
  /** Undefined on pass-through of a format we do not know. */
  call: WireCall | undefined;
  origin: string;
  path: string;
  method: Dispatcher.HttpMethod;
  headers: Record<string, string | string[]>;
  body: Dispatcher.DispatchOptions['body'];
  /** The JSON as the upstream gets it, for readers that need to know what was asked. */
  sentJson: JsonObject;
  droppedParams: readonly string[];
  context: CallContext;
}

/**
 * Turns an exchange and its target into one HTTP request: address, headers,
 * body. `shaped` is the body after the config's parameters and transforming
 * checks; undefined when none of them changed it.
 * @throws GatewayError for hosts that may not be called and endpoints the provider lacks
 */
export function prepareOutgoing(
  exchange: Exchange,
  target: Target,
  shaped: JsonObject | undefined,
  rules: HostRules,
): Outgoing {
  const base = checkUpstreamUrl(target.baseUrl, rules, target.baseUrlField);
  const context: CallContext = {
    provider: target.entry,
    strictOpenAiCompliance: target.strictOpenAiCompliance,
    nowMs: exchange.startedAtMs,
  };
  const prefixPath = withoutTrailingSlashes(base.url.pathname);
  const common = {
    origin: base.url.origin,
    context,
    method: exchange.method as Dispatcher.HttpMethod,
  };
  return exchange.route.isProxy
    ? { ...common, ...prepareProxy(exchange, target, prefixPath) }
    : { ...common, ...prepareUnified(exchange, target, shaped, prefixPath, context) };
}

type Prepared = Omit<Outgoing, 'origin' | 'context' | 'method'>;

function prepareUnified(
  exchange: Exchange,
  target: Target,
  shaped: JsonObject | undefined,
  prefixPath: string,
  context: CallContext,
): Prepared {
  const call = prepareCall(target.entry, exchange.route.endpoint);
  const headers = unifiedHeaders(exchange, target);
  const path = `${prefixPath}${call.path}${exchange.search}`;
  if (exchange.body === undefined || exchange.json === undefined)
    return { call, path, headers, body: null, sentJson: {}, droppedParams: [] };
  const asked =
    shaped ??
    (target.rewritesModel && call.mode === 'translated'
      ? { ...exchange.json, model: target.model }
      : exchange.json);
  const encoded = call.encode(asked, context);
  return {
    call,
    path,
    headers: withRequestHeaders(headers, encoded.headers),
    body: bodyBytes(exchange.body, target, shaped, encoded.body),
    sentJson: encoded.body ?? asked,
    droppedParams: encoded.dropped,
  };
}

/** The caller's bytes where nothing changed, a surgical edit where only the model's name did, else new JSON. */
function bodyBytes(
  received: Buffer,
  target: Target,
  shaped: JsonObject | undefined,
  encoded: JsonObject | undefined,
): Buffer {
  const rebuilt = encoded ?? shaped;
  if (rebuilt !== undefined) {
    if (target.rewritesModel && encoded !== undefined && 'model' in rebuilt)
      return Buffer.from(JSON.stringify({ ...rebuilt, model: target.model }));
    return Buffer.from(JSON.stringify(rebuilt));
  }
  return target.rewritesModel ? replaceTopLevelString(received, 'model', target.model) : received;
}

/** Everything after `/v1` (and `/proxy`) is the provider's, with its query. */
function prepareProxy(exchange: Exchange, target: Target, prefixPath: string): Prepared {
  const rest = exchange.pathname.replace(/^\/v1(?:\/proxy)?(?=\/|$)/, '');
  if (hasDotSegment(rest))
    throw new GatewayError('request.invalid_field', {
      field: 'path',
      message: 'The path of a pass-through call must not have "." or ".." segments.',
    });
  const call = knownCall(target, rest);
  const bodyless =
    exchange.method === 'GET' || exchange.method === 'DELETE' || exchange.method === 'HEAD';
  const headers = proxyHeaders(exchange, target, call !== undefined);
  let body: Dispatcher.DispatchOptions['body'] = null;
  if (bodyless) body = null;
  else if (exchange.body !== undefined)
    body = target.rewritesModel
      ? replaceTopLevelString(exchange.body, 'model', target.model)
      : exchange.body;
  else if (carriesBody(exchange.headers)) {
    body = exchange.bodyStream();
    // A declared length is kept, so that the upstream sees the request as it was sent.
    const length = exchange.headers['content-length'];
    if (length !== undefined) headers['content-length'] = length;
  }
  // A base that ends in /v1 and a path that begins with it mean the same segment.
  const path = prefixPath.endsWith('/v1') && rest.startsWith('/v1/') ? rest.slice(3) : rest;
  return {
    call,
    path: `${prefixPath}${path === '' ? '/' : path}${exchange.search}`,
    headers,
    body,
    sentJson: exchange.json ?? {},
    droppedParams: [],
  };
}

/** The native call whose path this is, so that its usage can be read on the way. */
function knownCall(target: Target, path: string): WireCall | undefined {
  for (const [endpoint, row] of Object.entries(target.entry.endpoints)) {
    if (row.path !== path) continue;
    const call = prepareCall(target.entry, endpoint as keyof typeof target.entry.endpoints);
    if (call.mode === 'native') return call;
  }
  return undefined;
}
