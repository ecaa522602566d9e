import type { ObjectOperation } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import {
  findPassThrough,
  handsOutSecrets,
  hasOperation,
  type JsonObject,
  type PassThrough,
  passesUnknown,
  passThroughTranslation,
  pathOf,
  providersKeeping,
  vendorJobsAt,
} from '@sluice/providers';
import type { Dispatcher } from 'undici';
import { addressAuthor } from '../calls/prepare/address-author.ts';
import {
  checkedBase,
  joinPaths,
  versionedPath,
  withoutSaid,
} from '../calls/prepare/call-address.ts';
import { contextOf } from '../calls/prepare/call-context.ts';
import type { CallRules } from '../calls/prepare/call-rules.ts';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { PreparedRequest } from '../exchange/prepared-call.ts';
import type { ModelCall } from '../exchange/subject.ts';
import type { Target } from '../exchange/target.ts';
import { carriesBody } from '../http/body-stream.ts';
import { replaceTopLevelString } from '../http/edit-json.ts';
import { formFields, writeForm } from '../http/form-fields.ts';
import { hasDotSegment } from '../http/request-target.ts';
import { objectFactsOf } from '../owners/object-facts.ts';
import { boundedSearch, narrowedKind } from '../owners/own-list.ts';
import type { BatchParts } from './asking-batches.ts';
import { countedBody } from './counted-body.ts';
import { prepareBatches, vendorBatchesFor } from './prepare-batches.ts';
import { prepareFiles, vendorFilesOf } from './prepare-files.ts';
import { prepareJobs, vendorJobsOf } from './prepare-jobs.ts';
import { proxyEntry } from './proxy-entry.ts';
import { proxyHeaders } from './proxy-headers.ts';
import type { TargetVisit } from './target-visit.ts';
import { proxyPathOf } from './targets/served-model.ts';

/** Everything after `/v1` (and `/proxy`) is the provider's, with its query. */
export function prepareProxy(
  exchange: ModelExchange,
  target: Target,
  rules: CallRules & Partial<BatchParts>,
  changed: Buffer | undefined,
  visit: TargetVisit | undefined,
): PreparedRequest {
  const rest = proxyPathOf(exchange.subject.pathname);
  if (hasDotSegment(rest))
    throw new GatewayError('request.invalid_field', {
      field: 'path',
      message: 'The path of a pass-through call must not have "." or ".." segments.',
    });
  const { operation } = exchange.subject;
  if (
    operation.id === 'proxy' &&
    target.credentialBy === 'admin' &&
    rules.passesVendorSecrets !== true &&
    handsOutSecrets(rest)
  )
    throw new GatewayError('credential.handed_out', { field: 'path' });
  const kept = operation.about === 'object' ? keepingOf(operation, exchange, target) : undefined;
  const files =
    operation.about === 'object' ? vendorFilesOf(operation, exchange, target) : undefined;
  if (files !== undefined) return prepareFiles(files, exchange, target, rules);
  const jobs = operation.about === 'object' ? vendorJobsOf(operation, exchange, target) : undefined;
  if (jobs !== undefined) return prepareJobs(jobs, exchange, target, rules);
  if (operation.about === 'object' && visit !== undefined) {
    const batches = vendorBatchesFor(operation, visit, target);
    if (batches !== undefined) return prepareBatches(batches, visit, target, rules);
  }
  const context = {
    ...contextOf(exchange, target, exchange.subject.json ?? {}, rules),
    proxyPath: rest,
  };
  const entry = proxyEntry(target);
  const addressBy = addressAuthor(target);
  const base = checkedBase(target, entry, context, rules.hostRules, addressBy);
  const { translation, endpoint } =
    (operation.about === 'object'
      ? passingOfObject(operation, exchange)
      : (findPassThrough(target.entry, rest) ??
        passesUnknown(exchange.arrival.method, askedUnknown(exchange)))) ?? unknown;
  const bodyless =
    exchange.arrival.method === 'GET' ||
    exchange.arrival.method === 'DELETE' ||
    exchange.arrival.method === 'HEAD';
  const narrowed = narrowedKind(exchange, target);
  // What its reply says was made must be read, and so must what is billed by it, and what lists the workspace's own alone.
  const isRead =
    objectFactsOf(exchange)?.makes !== undefined ||
    translation !== undefined ||
    narrowed !== undefined ||
    (operation.about === 'object' && operation.bills !== undefined);
  const headers = proxyHeaders(exchange, target, isRead);
  // A part of a list cannot be read.
  if (narrowed !== undefined) for (const name of ['range', 'if-range']) delete headers[name];
  for (const [name, value] of Object.entries(kept?.headers ?? {})) headers[name] ??= value;
  let body: Dispatcher.DispatchOptions['body'] = null;
  if (bodyless) body = null;
  else if (changed !== undefined) body = changed;
  else if (exchange.subject.body !== undefined) {
    if (exchange.subject.json === undefined)
      exchange.subject.unreadBytes = exchange.subject.body.length;
    body = passedBody(exchange.subject, target, headers);
  } else if (carriesBody(exchange.arrival.headers)) {
    body = countedBody(exchange);
    // A declared length is kept, so that the upstream sees the request as it was sent.
    const length = exchange.arrival.headers['content-length'];
    if (length !== undefined) headers['content-length'] = length;
  }
  return {
    translation,
    passesAs: endpoint,
    context,
    origin: base.origin,
    addressBy,
    method: exchange.arrival.method as Dispatcher.HttpMethod,
    path: joinPaths(
      base,
      entry === undefined
        ? versionedPath(base, rest, target.entry)
        : withoutSaid(pathOf(entry, context), exchange.subject.search),
      narrowed === undefined
        ? exchange.subject.search
        : boundedSearch(exchange.subject.search, narrowed, exchange.subject.pathname),
    ),
    auth: translation?.entry.auth ?? target.entry.auth,
    headers,
    body,
    sentJson: exchange.subject.json ?? {},
    droppedParams: [],
    hidesUsage: false,
  };
}

/** The bytes as they came, save the name of a model that the config chose. */
function passedBody(
  { body, form }: ModelCall,
  target: Target,
  headers: Record<string, string | string[]>,
): Buffer | null {
  if (body === undefined) return null;
  if (!target.rewritesModel) return body;
  if (form === undefined) return replaceTopLevelString(body, 'model', target.model);
  const written = writeForm(form, { ...formFields(form), model: target.model });
  headers['content-type'] = written.contentType;
  return written.data;
}

/** What may be asked at a path of which nothing is known: what nobody could read may name a model. */
function askedUnknown({ arrival, subject }: ModelExchange): JsonObject | 'unread' | undefined {
  if (subject.json !== undefined) return subject.json;
  const isSent =
    subject.body === undefined ? carriesBody(arrival.headers) : subject.body.length > 0;
  return isSent ? 'unread' : undefined;
}

/** Nothing is known of the path. */
const unknown: Partial<PassThrough> = {};

/**
 * What reads the usage of an operation's reply. What one vendor keeps another answers: conversations of Mistral's tell
 * what was used where those of OpenAI's are only written to. What goes on is billed at its end.
 */
function passingOfObject(
  { uses, spends, bills, objects }: ObjectOperation,
  { arrival, subject }: ModelExchange,
): PassThrough | undefined {
  if (uses === 'text') return { translation: responsesPassing, endpoint: undefined };
  const goesOn = bills !== undefined || objects?.makes?.some(({ follow }) => follow !== undefined);
  if (spends === 'nothing' || goesOn === true) return undefined;
  return passesUnknown(arrival.method, subject.json);
}

const responsesPassing = passThroughTranslation('openai-responses');

/**
 * What the provider says of the family; undefined = nobody knows who answers,
 * or whether it has it.
 * @throws GatewayError `provider.endpoint_unsupported` naming who has it
 */
function keepingOf(
  { of, id }: ObjectOperation & { id: string },
  exchange: ModelExchange,
  target: Target,
) {
  if (of === undefined) return undefined;
  const { entry, customHost } = target;
  const keeping = entry.keeps?.[of];
  const isForced = /^\/v1\/proxy(?:\/|$)/.test(exchange.subject.pathname);
  const hasIt = keeping !== undefined && hasOperation(entry, of, id);
  const hasOwnWords = entry.files !== undefined || vendorJobsAt(entry, of) !== undefined;
  const isAnybody = customHost !== undefined && !hasOwnWords;
  if (hasIt || isAnybody || isForced) return keeping;
  throw new GatewayError('provider.endpoint_unsupported', {
    message: `The provider ${entry.id} does not offer ${id}: it keeps no ${of}, or not so. These do: ${providersKeeping(of, id).join(', ')}.`,
  });
}
