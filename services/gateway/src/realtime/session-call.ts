import { randomBytes } from 'node:crypto';
import { operations } from '@sluice/contracts';
import { type EndpointEntry, pathOf } from '@sluice/providers';
import { addressAuthor } from '../calls/prepare/address-author.ts';
import { checkedBase, joinPaths } from '../calls/prepare/call-address.ts';
import { contextOf } from '../calls/prepare/call-context.ts';
import type { CallRules } from '../calls/prepare/call-rules.ts';
import { newCall } from '../calls/prepare/new-call.ts';
import { prepareUnified } from '../calls/prepare/prepare-unified.ts';
import { credentialHeaders } from '../calls/prepare/request-headers.ts';
import { type ModelExchange, Visit } from '../exchange/exchange.ts';
import type { PreparedCall } from '../exchange/prepared-call.ts';
import { Progress } from '../exchange/progress.ts';
import { modelCall } from '../exchange/subject.ts';
import type { Target } from '../exchange/target.ts';

/** A POST to a provider's endpoints of calls and secrets, with nothing of the caller's headers. */
export interface PostedTo {
  /** Behind the version: `/realtime/calls`. */
  readonly path: string;
  /** Undefined = none is sent. */
  readonly content: { readonly type: string; readonly body: Buffer } | undefined;
}

export function preparePost(
  exchange: ModelExchange,
  target: Target,
  visit: Visit,
  { path, content }: PostedTo,
  rules: CallRules,
): PreparedCall {
  const context = { ...contextOf(exchange, target, {}, rules), proxyPath: path };
  const entry = passingEntry(target);
  const addressBy = addressAuthor(target);
  const base = checkedBase(target, entry, context, rules.hostRules, addressBy);
  const request = {
    translation: undefined,
    context,
    origin: base.origin,
    addressBy,
    method: 'POST' as const,
    path: joinPaths(base, entry === undefined ? path : pathOf(entry, context), ''),
    auth: entry?.auth ?? target.entry.auth,
    headers: {
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': 'sluice',
      ...(content === undefined ? {} : { 'content-type': content.type }),
      ...credentialHeaders(target, entry),
      ...target.customHeaders,
    },
    body: content?.body ?? null,
    sentJson: {},
    droppedParams: [],
    hidesUsage: false,
  };
  return newCall(request, exchange, target, visit);
}

function passingEntry({ entry }: Target): EndpointEntry | undefined {
  const { proxy } = entry.endpoints;
  return proxy === undefined || 'choose' in proxy ? undefined : proxy;
}

/** SDP and session, as a call is made with a key of the provider's. */
export function callForm(sdp: string, session: object): { type: string; body: Buffer } {
  const boundary = `sluice-${randomBytes(16).toString('hex')}`;
  const part = (name: string, type: string, text: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\ncontent-type: ${type}\r\n\r\n${text}\r\n`;
  const form = `${part('sdp', 'application/sdp', sdp)}${part('session', 'application/json', JSON.stringify(session))}--${boundary}--\r\n`;
  return { type: `multipart/form-data; boundary=${boundary}`, body: Buffer.from(form) };
}

/**
 * The call by which a sideband of a call under way is opened, and what is said in it recorded: as of a session of
 * this key over a WebSocket, that nobody else listens to.
 */
export function sidebandCall(
  from: ModelExchange,
  target: Target,
  callId: string,
  signal: AbortSignal,
  rules: CallRules,
): { exchange: ModelExchange; call: PreparedCall } {
  const { realtime } = operations;
  const subject = modelCall(realtime, '/v1/realtime', `?call_id=${encodeURIComponent(callId)}`);
  subject.model = from.subject.model;
  subject.asked = from.subject.asked;
  const exchange: ModelExchange = {
    ...from,
    subject,
    limits: undefined,
    arrival: { ...from.arrival, method: 'GET', search: subject.search, signal },
    contentFormat: '',
    progress: new Progress(),
    visits: [],
  };
  const visit = new Visit(exchange, target.planned);
  const request = prepareUnified(exchange, target, undefined, rules);
  const call = newCall({ ...request, path: withoutModel(request.path) }, exchange, target, visit);
  return { exchange, call };
}

/** A sideband is of its call, which has its model. */
function withoutModel(path: string): string {
  const at = path.indexOf('?');
  const parts = path
    .slice(at + 1)
    .split('&')
    .filter((part) => !/^(?:model|deployment)=/.test(part));
  return `${path.slice(0, at)}?${parts.join('&')}`;
}
