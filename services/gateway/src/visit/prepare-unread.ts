import { pathOf } from '@sluice/providers';
import type { Dispatcher } from 'undici';
import { unifiedPath } from '../calls/prepare/call-address.ts';
import type { CallRules } from '../calls/prepare/call-rules.ts';
import { addressCall } from '../calls/prepare/prepare-unified.ts';
import { unifiedHeaders } from '../calls/prepare/request-headers.ts';
import { isAskedAlone } from '../exchange/asked-alone.ts';
import type { ModelExchange } from '../exchange/exchange.ts';
import { nitroRefused } from '../exchange/nitro-refused.ts';
import type { PreparedRequest } from '../exchange/prepared-call.ts';
import type { Target } from '../exchange/target.ts';
import { namesInBody } from '../owners/passing-ids.ts';
import { countedBody } from './counted-body.ts';

/**
 * One call of a unified endpoint whose body flows through as it comes. Its
 * answer is read as any native one, for what it tells of usage.
 * @throws GatewayError `request.nitro_refused` where the target needs to know the body
 */
export function prepareUnread(
  exchange: ModelExchange,
  target: Target,
  rules: CallRules,
): PreparedRequest {
  const { saved, entry } = target;
  const { operation, search } = exchange.subject;
  if (saved?.limitsModels === true)
    throw nitroRefused('body.model', `"@${saved.slug}" is limited to certain models`);
  // What may flow is looked at while it passes (`steps/note-owner.ts`).
  if (namesInBody(operation.objects) && operation.objects?.mayFlow !== true && isAskedAlone(target))
    throw nitroRefused('body', 'it may name what other workspaces keep with the credential');
  const { translation, base, addressBy, context } = addressCall(exchange, target, {}, rules);
  if (translation.mode !== 'native')
    throw nitroRefused(
      'x-service-provider',
      `${entry.id} takes other words than those of ${operation.id}`,
    );
  const path = pathOf(translation.entry, context);
  // Of two models and of a stream: an address that is made of the body cannot be known.
  const others = [
    { ...context, model: 'one-model' },
    { ...context, stream: true },
  ];
  if (others.some((other) => pathOf(translation.entry, other) !== path))
    throw nitroRefused('body.model', `${entry.id} has an address for each model`);
  const method = translation.entry.method ?? (exchange.arrival.method as Dispatcher.HttpMethod);
  const headers = unifiedHeaders(exchange, target, translation.entry);
  headers['content-type'] = 'application/json';
  const length = exchange.arrival.headers['content-length'];
  if (length !== undefined) headers['content-length'] = length;
  return {
    translation,
    context,
    origin: base.origin,
    addressBy,
    method,
    path: unifiedPath(base, path, entry, translation, { method, search }),
    auth: translation.entry.auth ?? entry.auth,
    headers,
    body: countedBody(exchange),
    sentJson: {},
    droppedParams: [],
    hidesUsage: false,
  };
}
