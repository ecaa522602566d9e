import { GatewayError } from '@sluice/errors';
import { type AddressAuthor, checkUpstreamUrl, type HostRules } from '@sluice/outbound';
import {
  baseUrlOf,
  type CallContext,
  type CallFacts,
  type EndpointEntry,
  type FormPart,
  findPassThroughTranslation,
  findTranslation,
  type JsonObject,
  pathOf,
  type Translation,
  withRequestHeaders,
} from '@sluice/providers';
import type { Dispatcher } from 'undici';
import type { ModelExchange } from '../../exchange/exchange.ts';
import type { PreparedCall } from '../../exchange/prepared-call.ts';
import type { Target } from '../../exchange/target.ts';
import { carriesBody } from '../../http/body-stream.ts';
import { replaceTopLevelString } from '../../http/edit-json.ts';
import { formFields, writeForm } from '../../http/form-fields.ts';
import { hasDotSegment, withoutTrailingSlashes } from '../../http/request-target.ts';
import { sentBody } from '../../visit/sent-body.ts';
import { proxyPathOf } from '../../visit/target/served-model.ts';
import { addressAuthor } from './address-author.ts';
import { proxyHeaders, unifiedHeaders } from './upstream-headers.ts';

/**
 * Turns an exchange and its target into one HTTP request: address, headers,
 * body. `shaped` is the body after the config's parameters and transforming
 * checks; undefined when none of them changed it.
 * @throws GatewayError for hosts that may not be called and endpoints the provider lacks
 */
export function prepareOutgoing(
  exchange: ModelExchange,
  target: Target,
  shaped: JsonObject | undefined,
  rules: HostRules,
): PreparedCall {
  return exchange.subject.operation.body === 'raw'
    ? prepareProxy(exchange, target, rules)
    : prepareUnified(exchange, target, shaped, rules);
}

/** The call of a unified endpoint and where it goes; nothing is encoded yet. */
export function addressCall(
  exchange: ModelExchange,
  target: Target,
  body: JsonObject,
  rules: HostRules,
): { translation: Translation; base: URL; addressBy: AddressAuthor; context: CallContext } {
  const context = contextOf(exchange, target, body);
  const translation = findTranslation(target.entry, exchange.subject.operation.id, context);
  const addressBy = addressAuthor(target);
  return {
    translation,
    base: checkedBase(target, translation.entry, context, rules, addressBy),
    addressBy,
    context,
  };
}

function contextOf(exchange: ModelExchange, target: Target, request: JsonObject): CallContext {
  return {
    provider: target.entry,
    strictOpenAiCompliance: target.strictOpenAiCompliance,
    nowMs: exchange.arrival.startedAtMs,
    model: target.model,
    stream: request.stream === true,
    setting: target.setting,
    accountIsSettled: target.credentialBy === 'admin',
    request,
    ...(exchange.subject.form === undefined ? {} : { form: exchange.subject.form }),
  };
}

function checkedBase(
  target: Target,
  entry: EndpointEntry | undefined,
  facts: CallFacts,
  rules: HostRules,
  addressBy: AddressAuthor,
): URL {
  const { customHost } = target;
  const url = customHost?.url ?? baseUrlOf(target.entry, entry, facts);
  return checkUpstreamUrl(url, rules, customHost?.field, addressBy).url;
}

function prepareUnified(
  exchange: ModelExchange,
  target: Target,
  shaped: JsonObject | undefined,
  rules: HostRules,
): PreparedCall {
  const json = shaped ?? exchange.subject.json ?? {};
  const { translation, base, addressBy, context } = addressCall(exchange, target, json, rules);
  const common = {
    translation,
    context,
    origin: base.origin,
    addressBy,
    method: translation.entry.method ?? (exchange.arrival.method as Dispatcher.HttpMethod),
    path: joinPaths(base, pathOf(translation.entry, context), exchange.subject.search),
    auth: translation.entry.auth ?? target.entry.auth,
  };
  const headers = unifiedHeaders(exchange, target, translation.entry);
  if (exchange.subject.body === undefined || exchange.subject.json === undefined)
    return { ...common, headers, body: null, sentJson: {}, droppedParams: [] };
  const asked = sentBody(exchange, target, shaped);
  const encoded = translation.encode(asked, context);
  const edits = {
    target,
    shaped: shaped === undefined ? undefined : asked,
    encoded: encoded.body,
  };
  if (encoded.bytes !== undefined) headers['content-type'] = encoded.bytes.contentType;
  return {
    ...common,
    headers: withRequestHeaders(headers, encoded.headers),
    body:
      encoded.bytes?.data ??
      sentBytes(exchange.subject.body, exchange.subject.form, translation, edits, headers),
    // A dialect makes its reply of both, so that what it used up decides over the answer, too.
    sentJson: translation.entry.dialect === undefined ? (encoded.body ?? asked) : asked,
    droppedParams: encoded.dropped,
  };
}

/** What of the caller's body is to be different upstream. */
interface Edits {
  target: Target;
  /** After the config's parameters, with the model to ask for. */
  shaped: JsonObject | undefined;
  /** In the upstream's words. */
  encoded: JsonObject | undefined;
}

/** The body as it is sent; a form stays one, unless the upstream's words are JSON. */
function sentBytes(
  received: Buffer,
  form: readonly FormPart[] | undefined,
  translation: Translation,
  edits: Edits,
  headers: Record<string, string | string[]>,
): Buffer {
  if (form === undefined) return bodyBytes(received, edits);
  if (translation.mode === 'translated' && edits.encoded !== undefined) {
    headers['content-type'] = 'application/json';
    return Buffer.from(JSON.stringify(edits.encoded));
  }
  return formBytes(received, form, edits, headers);
}

/** A form that nothing changed goes as it came; else its fields are written anew around the same files. */
function formBytes(
  received: Buffer,
  parts: readonly FormPart[],
  { target, shaped, encoded }: Edits,
  headers: Record<string, string | string[]>,
): Buffer {
  const changed = encoded ?? shaped;
  if (changed === undefined && !target.rewritesModel) return received;
  const form = writeForm(parts, changed ?? { ...formFields(parts), model: target.model });
  headers['content-type'] = form.contentType;
  return form.data;
}

/** A version that ends the base and begins the path is one and the same. */
function joinPaths(base: URL, path: string, search: string): string {
  const prefix = withoutTrailingSlashes(base.pathname);
  const version = /\/v[0-9]+[a-z0-9]*$/.exec(prefix)?.[0];
  const rest =
    version !== undefined && path.startsWith(`${version}/`) ? path.slice(version.length) : path;
  const query = search === '' || !rest.includes('?') ? search : `&${search.slice(1)}`;
  return `${prefix}${rest === '' ? '/' : rest}${query}`;
}

/** The caller's bytes where nothing changed, a surgical edit where only the model's name did, else new JSON. */
function bodyBytes(received: Buffer, { target, shaped, encoded }: Edits): Buffer {
  const rebuilt = encoded ?? shaped;
  if (rebuilt !== undefined) return Buffer.from(JSON.stringify(rebuilt));
  return target.rewritesModel ? replaceTopLevelString(received, 'model', target.model) : received;
}

/** Everything after `/v1` (and `/proxy`) is the provider's, with its query. */
function prepareProxy(exchange: ModelExchange, target: Target, rules: HostRules): PreparedCall {
  const rest = proxyPathOf(exchange.subject.pathname);
  if (hasDotSegment(rest))
    throw new GatewayError('request.invalid_field', {
      field: 'path',
      message: 'The path of a pass-through call must not have "." or ".." segments.',
    });
  const context = { ...contextOf(exchange, target, exchange.subject.json ?? {}), proxyPath: rest };
  const entry = proxyEntry(target);
  const addressBy = addressAuthor(target);
  const base = checkedBase(target, entry, context, rules, addressBy);
  const translation = findPassThroughTranslation(target.entry, rest);
  const bodyless =
    exchange.arrival.method === 'GET' ||
    exchange.arrival.method === 'DELETE' ||
    exchange.arrival.method === 'HEAD';
  const headers = proxyHeaders(exchange, target, translation !== undefined);
  let body: Dispatcher.DispatchOptions['body'] = null;
  if (bodyless) body = null;
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
  };
}

/** What the provider says of pass-through calls, if anything. */
function proxyEntry(target: Target): EndpointEntry | undefined {
  const offered = target.entry.endpoints.proxy;
  return offered === undefined || 'choose' in offered ? undefined : offered;
}
