import { metadataValueMax, objectsAt, operations } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { asksStreamAt, type JsonObject } from '@sluice/providers';
import { type Exchange, expectModelCall, type ModelExchange } from '../../exchange/exchange.ts';
import { carriesBody } from '../../http/body-stream.ts';
import { codingOf } from '../../http/content-coding.ts';
import { editMembers } from '../../http/edit-members.ts';
import { formFields } from '../../http/form-fields.ts';
import { parseJsonBody } from '../../http/json-body.ts';
import { inTurn, largeBytes } from '../../http/large-work.ts';
import { parseForm } from '../../http/multipart.ts';
import { askedEndpoint } from '../../limits/asked-endpoint.ts';
import type { Stage } from '../pipeline.ts';
import { passUnread } from './pass-unread.ts';

/** The JSON body of a unified endpoint: parsed once, the bytes kept for sending on. */
export const readJsonRequest: Stage = async (exchange, next) => {
  expectModelCall(exchange);
  checkContentType(exchange);
  const startedAt = performance.now();
  const body = await exchange.arrival.readBody();
  exchange.subject.body = body;
  const parsed =
    body.length < largeBytes
      ? parseJsonBody(body)
      : await inTurn(ownerOf(exchange), body.length, () => parseJsonBody(body));
  noteRequest(exchange, parsed);
  const { asksStream } = exchange.arrival;
  if (asksStream !== undefined) settleStream(exchange, body, parsed, asksStream);
  exchange.progress.readingMs = performance.now() - startedAt;
  return await next();
};

/** The body says what the method it came by means: a client that compiled one kind of answer cannot take the other. */
function settleStream(
  { subject }: ModelExchange,
  body: Buffer,
  json: JsonObject,
  asksStream: boolean,
): void {
  if (subject.wantsStream === asksStream) return;
  subject.body = editMembers(body, { stream: asksStream });
  subject.json = { ...json, stream: asksStream };
  subject.wantsStream = asksStream;
}

function ownerOf({ bundle }: Exchange): string {
  return bundle?.source.workspaceId ?? '';
}

function isForm({ headers }: Exchange['arrival']): boolean {
  return /^multipart\/form-data\b/i.test(headers['content-type'] ?? '');
}

/** A multipart body, whose text fields stand for the JSON; without one, JSON is taken as well. */
const readFormRequest: Stage = async (exchange, next) => {
  expectModelCall(exchange);
  if (!isForm(exchange.arrival)) return readJsonRequest(exchange, next);
  await readForm(exchange);
  return await next();
};

async function readForm(exchange: ModelExchange): Promise<void> {
  const type = exchange.arrival.headers['content-type'] ?? '';
  checkEncoding(exchange);
  const startedAt = performance.now();
  const body = await exchange.arrival.readBody('form');
  exchange.subject.body = body;
  exchange.subject.form = await inTurn(ownerOf(exchange), body.length, () => parseForm(body, type));
  noteRequest(exchange, formFields(exchange.subject.form));
  exchange.progress.readingMs = performance.now() - startedAt;
}

/** The body of a unified endpoint, whichever it takes; unread where the caller asks for that. */
export const readRequest: Stage = (exchange, next) => {
  if (exchange.arrival.caller.nitro) {
    checkContentType(exchange);
    return passUnread(exchange, next);
  }
  return takesForm(exchange) ? readFormRequest(exchange, next) : readJsonRequest(exchange, next);
};

function takesForm({ subject }: Exchange): boolean {
  const { operation } = subject;
  return operation.about === 'object' ? operation.takes === 'form' : operation.body === 'form';
}

/** Keeps the body as JSON, and what others want to know of it without looking. */
export function noteRequest(exchange: ModelExchange, json: JsonObject): void {
  const { model, stream, user } = json;
  if (model !== undefined && typeof model !== 'string')
    throw invalid('body.model', 'must be a string');
  if (model !== undefined && model.length > modelLengthMax)
    throw invalid('body.model', `must not be longer than ${modelLengthMax} characters`);
  if (model?.isWellFormed() === false)
    throw invalid('body.model', 'must not have half a character');
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean')
    throw invalid('body.stream', 'must be a boolean');
  exchange.subject.json = json;
  exchange.subject.model = model ?? '';
  exchange.subject.wantsStream = stream === true;
  noteEndUser(exchange, user);
}

/** A caller's `user` is its end user unless the metadata says otherwise. */
function noteEndUser(exchange: ModelExchange, user: unknown): void {
  if (typeof user === 'string' && exchange.metadata._user === undefined)
    exchange.metadata = {
      ...exchange.metadata,
      _user: user.slice(0, metadataValueMax).toWellFormed(),
    };
}

/** Longer than any resource name; models are kept in records, counters and price look-ups. */
const modelLengthMax = 1024;

function checkContentType(exchange: Exchange): void {
  const type = exchange.arrival.headers['content-type'];
  // Clients that leave the type out mean JSON.
  if (type !== undefined && !/^application\/(?:[\w.+-]+\+)?json\b/i.test(type))
    throw new GatewayError('request.unsupported_content_type', {
      field: 'content-type',
      message: takesForm(exchange)
        ? 'This endpoint takes multipart/form-data or application/json.'
        : 'This endpoint takes application/json.',
    });
  checkEncoding(exchange);
}

function checkEncoding(exchange: Exchange): void {
  if (codingOf(exchange.arrival.headers) !== '')
    throw new GatewayError('request.unsupported_content_type', {
      field: 'content-encoding',
      message: 'Compressed request bodies are not accepted.',
    });
}

function invalid(field: string, what: string): GatewayError {
  return new GatewayError('request.invalid_field', { field, message: `${field} ${what}.` });
}

/** JSON bodies up to this size are read for the model's name and for streaming; others flow through unread, where no limit needs to know. */
const inspectBytesMax = 4 * 1024 * 1024;
/** Larger ones, which are pictures and documents in a vendor's own words, flow whoever is limited. */
const wholeBytesMax = 32 * 1024 * 1024;

/** The body of a pass-through call: looked at when it is small JSON, never changed, never required to be anything. */
export const readProxyRequest: Stage = (exchange, next) => {
  expectModelCall(exchange);
  const goOn = () => {
    exchange.subject.wantsStream ||= asksStreamAt(exchange.subject.pathname);
    return next();
  };
  const reading = readPassed(exchange);
  return reading === undefined ? goOn() : reading.then(goOn);
};

/** Undefined = there is nothing to wait for. */
function readPassed(exchange: ModelExchange): Promise<void> | undefined {
  const { operation } = exchange.subject;
  const { headers, method } = exchange.arrival;
  if (operation.about === 'object' && (operation.takes === 'json' || operation.takes === 'form'))
    return operation.takes === 'form' && isForm(exchange.arrival)
      ? readForm(exchange)
      : readPassedJson(exchange);
  // Limits go by the model that stands in it, and by what it may use.
  const isLimited =
    exchange.limits !== undefined || exchange.arrival.caller.maxCostNanoUsd !== undefined;
  const asks = isLimited ? bodyAsked(exchange) : 'none';
  if (asks !== 'none' && carriesBody(headers)) return readAsked(exchange, asks);
  // A row is found by its path: only what none serves is looked for once more.
  const facts =
    operation.about === 'object'
      ? operation.objects
      : objectsAt(method, exchange.subject.pathname).facts;
  // What it names must be seen before it is known who is asked.
  const isNaming = facts?.names !== undefined && facts.mayFlow !== true;
  if (isNaming) checkEncoding(exchange);
  if (exchange.bundle?.enforced?.readsBodies === true || isNaming)
    return carriesBody(headers) ? readWhole(exchange) : undefined;
  const length = Number(headers['content-length']);
  const type = headers['content-type'] ?? '';
  const isJson = /^application\/(?:[\w.+-]+\+)?json\b/i.test(type);
  if (isJson && length > 0 && length <= inspectBytesMax && codingOf(headers) === '')
    return readSmall(exchange);
  const mayAsk = (isJson || type === '') && !(length > wholeBytesMax);
  return isLimited && mayAsk && carriesBody(headers) ? readWhole(exchange) : undefined;
}

/** Which body the endpoint takes at whose path this passes, however that is spelt; `none` where nothing is used, or it is nobody's. */
function bodyAsked(exchange: ModelExchange): 'json' | 'form' | 'none' {
  const asked = operations[askedEndpoint(exchange)];
  if (asked.about !== 'model' || asked.uses === 'nothing') return 'none';
  return asked.body === 'json' || asked.body === 'form' ? asked.body : 'none';
}

async function readSmall(exchange: ModelExchange): Promise<void> {
  const startedAt = performance.now();
  const body = await exchange.arrival.readBody();
  exchange.subject.body = body;
  await inTurn(ownerOf(exchange), body.length, () => inspect(exchange, body));
  exchange.progress.readingMs = performance.now() - startedAt;
}

/** The JSON of what passes through by a row that reads it; bytes go on as they came. It may have none. */
async function readPassedJson(exchange: ModelExchange): Promise<void> {
  if (!carriesBody(exchange.arrival.headers)) return;
  const startedAt = performance.now();
  const body = await exchange.arrival.readBody();
  exchange.subject.body = body;
  if (body.length > 0) {
    checkContentType(exchange);
    await inTurn(ownerOf(exchange), body.length, () => noteRequest(exchange, parseJsonBody(body)));
  }
  exchange.progress.readingMs = performance.now() - startedAt;
}

/** As strictly as at the endpoint itself: what two readers read differently would be limited as the one, and served as the other. */
async function readAsked(exchange: ModelExchange, asks: 'json' | 'form'): Promise<void> {
  if (asks === 'form' && isForm(exchange.arrival)) return readForm(exchange);
  checkEncoding(exchange);
  const startedAt = performance.now();
  const body = await exchange.arrival.readBody('form');
  exchange.subject.body = body;
  await inTurn(ownerOf(exchange), body.length, () => noteRequest(exchange, parseJsonBody(body)));
  exchange.progress.readingMs = performance.now() - startedAt;
}

/** For what is enforced, and for limits. */
async function readWhole(exchange: ModelExchange): Promise<void> {
  const { arrival } = exchange;
  const startedAt = performance.now();
  const body = await arrival.readBody('form');
  exchange.subject.body = body;
  if (codingOf(arrival.headers) === '' && body.length > 0)
    await inTurn(ownerOf(exchange), body.length, () => inspect(exchange, body));
  exchange.progress.readingMs = performance.now() - startedAt;
}

function canBeModel(name: string): boolean {
  return name.length <= modelLengthMax && name.isWellFormed();
}

function inspect(exchange: ModelExchange, body: Buffer): void {
  try {
    const json = parseJsonBody(body);
    // A name that cannot be a model's leaves the body unread: the upstream judges it.
    if (typeof json.model === 'string' && !canBeModel(json.model)) return;
    exchange.subject.json = json;
    if (typeof json.model === 'string') exchange.subject.model = json.model;
    exchange.subject.wantsStream = json.stream === true;
    noteEndUser(exchange, json.user);
  } catch {
    // The upstream judges its own bodies; ours is only to pass them on.
  }
}
