import { GatewayError } from '@sluice/errors';
import { type EndpointEntry, findPassThroughTranslation, pathOf } from '@sluice/providers';
import type { Dispatcher } from 'undici';
import { addressAuthor } from '../calls/prepare/address-author.ts';
import { checkedBase, joinPaths } from '../calls/prepare/call-address.ts';
import { contextOf } from '../calls/prepare/call-context.ts';
import type { CallRules } from '../calls/prepare/call-rules.ts';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { PreparedRequest } from '../exchange/prepared-call.ts';
import type { Target } from '../exchange/target.ts';
import { carriesBody } from '../http/body-stream.ts';
import { replaceTopLevelString } from '../http/edit-json.ts';
import { hasDotSegment } from '../http/request-target.ts';
import { proxyHeaders } from './proxy-headers.ts';
import { proxyPathOf } from './target/served-model.ts';

/** Everything after `/v1` (and `/proxy`) is the provider's, with its query. */
export function prepareProxy(
  exchange: ModelExchange,
  target: Target,
  rules: CallRules,
  changed: Buffer | undefined,
): PreparedRequest {
  const rest = proxyPathOf(exchange.subject.pathname);
  if (hasDotSegment(rest))
    throw new GatewayError('request.invalid_field', {
      field: 'path',
      message: 'The path of a pass-through call must not have "." or ".." segments.',
    });
  const context = {
    ...contextOf(exchange, target, exchange.subject.json ?? {}, rules),
    proxyPath: rest,
  };
  const entry = proxyEntry(target);
  const addressBy = addressAuthor(target);
  const base = checkedBase(target, entry, context, rules.hostRules, addressBy);
  const translation = findPassThroughTranslation(target.entry, rest);
  const bodyless =
    exchange.arrival.method === 'GET' ||
    exchange.arrival.method === 'DELETE' ||
    exchange.arrival.method === 'HEAD';
  const headers = proxyHeaders(exchange, target, translation !== undefined);
  let body: Dispatcher.DispatchOptions['body'] = null;
  if (bodyless) body = null;
  else if (changed !== undefined) body = changed;
  else if (exchange.subject.body !== undefined)
    body = target.rewritesModel
      ? replaceTopLevelString(exchange.subject.body, 'model', target.model)
      : exchange.subject.body;
  else if (carriesBody(exchange.arrival.headers)) {
    body = exchange.arrival.bodyStream();
    // A declared length is kept, so that the upstream sees the request as it was sent.
    const length = exchange.arrival.headers['content-length'];
    if (length !== undefined) headers['content-length'] = length;
  }
  return {
    translation,
    context,
    origin: base.origin,
    addressBy,
    method: exchange.arrival.method as Dispatcher.HttpMethod,
    path: joinPaths(
      base,
      entry === undefined ? rest : pathOf(entry, context),
      exchange.subject.search,
    ),
    auth: translation?.entry.auth ?? target.entry.auth,
    headers,
    body,
    sentJson: exchange.subject.json ?? {},
    droppedParams: [],
    hidesUsage: false,
  };
}

/** What the provider says of pass-through calls, if anything. */
function proxyEntry(target: Target): EndpointEntry | undefined {
  const offered = target.entry.endpoints.proxy;
  return offered === undefined || 'choose' in offered ? undefined : offered;
}
