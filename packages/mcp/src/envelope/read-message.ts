import type { JsonObject, JsonValue } from '@sluice/contracts';
import {
  type JsonBounds,
  JsonError,
  type JsonScan,
  jsonBounds,
  keyOf,
  memberSpans,
  readJson,
  scalarEnd,
  scanJson,
  skipSpace,
} from '@sluice/json';
import { McpFault, rpcCodes } from '../fault.ts';
import { KnownNames } from './known-names.ts';
import { subjectFields } from './protocol.ts';

/** JSON-RPC's ids. Integers beyond 2^53 are refused: two of them can be one to a reader. */
export type RpcId = string | number;

interface Envelope {
  /** As they came. */
  readonly bytes: Buffer;
  readonly document: JsonObject;
}

interface Asking extends Envelope {
  readonly method: string;
  readonly params: JsonObject | undefined;
  /** `params._meta`. */
  readonly meta: JsonObject | undefined;
  /** What the method is about: the name of a tool or prompt, a URI, a task. Undefined where the method has none, or it is no text. */
  readonly subject: string | undefined;
}

export interface McpRequest extends Asking {
  readonly kind: 'request';
  readonly id: RpcId;
  /** JSON text of the id, as it came. */
  readonly idText: string;
  readonly progressToken: RpcId | undefined;
}

export interface McpNotification extends Asking {
  readonly kind: 'notification';
}

export interface McpResponse extends Envelope {
  readonly kind: 'response';
  readonly id: RpcId;
  readonly idText: string;
  readonly result: JsonObject;
  /** Where the result stands in the bytes. */
  readonly resultStart: number;
  /** `result._meta`. */
  readonly meta: JsonObject | undefined;
}

export interface McpErrorReply extends Envelope {
  readonly kind: 'error';
  /** Undefined where the other side could not read the request's. */
  readonly id: RpcId | undefined;
  readonly idText: string | undefined;
  readonly error: { readonly code: number; readonly message: string; readonly data?: JsonValue };
}

export type McpMessage = McpRequest | McpNotification | McpResponse | McpErrorReply;

export interface MessageBounds extends JsonBounds {
  /** Whether a name may stand twice in an object deep within the message; in the envelope it never may. */
  allowsDoubledNames: boolean;
}

const mebibyte = 1024 * 1024;

/** What a message may cost. */
export const messageBounds = {
  caller: {
    ...jsonBounds.request,
    bytesMax: 4 * mebibyte,
    depthMax: 100,
    allowsDoubledNames: false,
  },
  /** Results carry pictures and files, and some servers are careless in them. */
  upstream: {
    ...jsonBounds.reply,
    bytesMax: 16 * mebibyte,
    depthMax: 100,
    allowsDoubledNames: true,
  },
} as const satisfies Record<string, MessageBounds>;

const idTextMax = 1024;
const methodLengthMax = 256;
const subjectLengthMax = 8192;

/**
 * Reads one JSON-RPC message and keeps its bytes. A message that two readers could take for different ones is
 * refused: a doubled name (JSON leaves open which counts), a name of the envelope in another case (Go's reader
 * takes `Method` for `method`), text with half a surrogate (others put another character in its place).
 * @param decoded the bytes as text, where they are decoded already
 * @throws McpFault 400, or 413 for too many bytes
 */
export function readMessage(
  bytes: Buffer,
  bounds: MessageBounds = messageBounds.caller,
  decoded?: string,
): McpMessage {
  const text = withoutMark(bytes);
  const { document, scan, hasEachNameOnce } = parsed(text, bounds, decoded);
  if (Array.isArray(document))
    throw invalid('A batch is not accepted: send each message by itself.');
  if (!isObject(document)) throw invalid('A JSON-RPC message must be an object.');
  const places = envelopePlaces(text, scan);
  const idText = readableId(text, places, document);
  try {
    return toMessage(text, document, places, idText, hasEachNameOnce);
  } catch (error) {
    if (error instanceof McpFault && idText !== undefined) throw withId(error, idText);
    throw error;
  }
}

function toMessage(
  bytes: Buffer,
  document: JsonObject,
  places: EnvelopePlaces,
  idText: string | undefined,
  hasEachNameOnce: boolean,
): McpMessage {
  if (document.jsonrpc !== '2.0') throw invalid('jsonrpc must be "2.0".');
  const { method, result, error } = document;
  const outcomes = (method !== undefined ? 1 : 0) + (result !== undefined ? 1 : 0);
  if (outcomes + (error !== undefined ? 1 : 0) !== 1)
    throw invalid('A JSON-RPC message must have exactly one of method, result and error.');
  const id = idOf(document, idText);
  if (method !== undefined) {
    const asking = readAsking(bytes, document, places, hasEachNameOnce);
    if (document.id === undefined) return { kind: 'notification', ...asking };
    if (id === undefined || idText === undefined) throw invalid(idRule);
    const progressToken = asking.meta?.progressToken;
    if (progressToken !== undefined && !isId(progressToken))
      throw invalidParams('params._meta.progressToken must be a text or an integer.');
    const { params, meta, subject } = asking;
    // Not spread: that copies name by name.
    return {
      kind: 'request',
      bytes,
      document,
      method: asking.method,
      params,
      meta,
      subject,
      id,
      idText,
      progressToken,
    };
  }
  if (result !== undefined) {
    if (id === undefined || idText === undefined) throw invalid(idRule);
    if (!isObject(result)) throw invalid('result must be an object.');
    const resultStart = places.result ?? 0;
    const meta = metaOf(result);
    return { kind: 'response', bytes, document, id, idText, result, resultStart, meta };
  }
  if (!isObject(error) || !Number.isSafeInteger(error.code) || typeof error.message !== 'string')
    throw invalid('error must be an object with an integer code and a message.');
  const told = { code: error.code as number, message: error.message, data: error.data };
  return { kind: 'error', bytes, document, id, idText, error: told };
}

function readAsking(
  bytes: Buffer,
  document: JsonObject,
  places: EnvelopePlaces,
  hasEachNameOnce: boolean,
): Asking {
  const { method, params } = document;
  if (typeof method !== 'string' || method === '' || method.length > methodLengthMax)
    throw invalid(`method must be a text of 1 to ${methodLengthMax} characters.`);
  if (!method.isWellFormed()) throw invalid(`method ${unpairedRule}`);
  if (params !== undefined && !isObject(params)) throw invalidParams('params must be an object.');
  if (params !== undefined && hasEachNameOnce)
    for (const key of Object.keys(params)) checkName(key, paramNames, false, 'params.');
  else if (params !== undefined && places.params !== undefined)
    checkParams(bytes, places.params, params);
  const meta = params?._meta;
  if (meta !== undefined && !isObject(meta)) throw invalidParams('params._meta must be an object.');
  return { bytes, document, method, params, meta, subject: subjectOf(method, params) };
}

/** Names that policy or the mapping of ids looks at. */
const envelopeNames = new KnownNames(['jsonrpc', 'id', 'method', 'params', 'result', 'error']);
const paramNames = new KnownNames([
  'name',
  'uri',
  'taskId',
  'ref',
  'arguments',
  'argument',
  'context',
  '_meta',
  'cursor',
  'requestId',
  'progressToken',
  'protocolVersion',
  'capabilities',
  'requestState',
  'inputResponses',
]);

/** Where the values of the envelope begin that are looked for in its bytes; undefined = it has none. */
interface EnvelopePlaces {
  id: number | undefined;
  params: number | undefined;
  result: number | undefined;
}

/** @throws McpFault where a name stands there twice, or in another spelling */
function envelopePlaces(bytes: Buffer, { topLevelNames }: JsonScan): EnvelopePlaces {
  const places: EnvelopePlaces = { id: undefined, params: undefined, result: undefined };
  const seen: string[] = [];
  for (let at = 0; at < topLevelNames.length; at += 2) {
    const start = topLevelNames[at] as number;
    const end = topLevelNames[at + 1] as number;
    const plain = plainEnvelopeName(bytes, start + 1, end - 1);
    const key = plain ?? keyOf(bytes, start, end);
    // Envelopes have four names; one of thousands is looked up.
    const isDoubled = at < 2 * fewNames ? seen.includes(key) : false;
    if (isDoubled || plain === undefined) checkName(key, envelopeNames, isDoubled, '');
    seen.push(key);
    if (key === 'id' || key === 'params' || key === 'result')
      places[key] = skipSpace(bytes, skipSpace(bytes, end) + 1);
  }
  if (seen.length > fewNames) {
    const names = new Set<string>();
    for (const key of seen) {
      if (names.has(key)) throw ambiguous(`${key.slice(0, 64)} stands there twice.`);
      names.add(key);
    }
  }
  return places;
}

const fewNames = 16;

/** A name of the envelope that is written as it is, as nearly all are, found without making a text of it. */
function plainEnvelopeName(bytes: Buffer, start: number, end: number): string | undefined {
  for (const name of envelopeNames.all) {
    if (name.length !== end - start) continue;
    let at = 0;
    while (at < name.length && bytes[start + at] === name.charCodeAt(at)) at++;
    if (at === name.length) return name;
  }
  return undefined;
}

function checkParams(bytes: Buffer, paramsStart: number, params: JsonObject): void {
  const seen = new Set<string>();
  for (const { key, start } of memberSpans(bytes, paramsStart)) {
    checkName(key, paramNames, seen.has(key), 'params.');
    seen.add(key);
    if (key === '_meta' && isObject(params._meta)) checkDoubled(bytes, start, 'params._meta.');
    if (key === 'ref' && isObject(params.ref)) checkDoubled(bytes, start, 'params.ref.');
  }
}

function checkDoubled(bytes: Buffer, start: number, at: string): void {
  const seen = new Set<string>();
  for (const { key } of memberSpans(bytes, start)) {
    if (seen.has(key)) throw ambiguous(`${at}${key.slice(0, 64)} stands there twice.`);
    seen.add(key);
  }
}

function checkName(key: string, known: KnownNames, isDoubled: boolean, at: string): void {
  if (isDoubled) throw ambiguous(`${at}${key.slice(0, 64)} stands there twice.`);
  if (key.length > longestKnown) return;
  const name = known.takenFor(key);
  if (name !== '') throw ambiguous(`${at}${key} must be spelled ${at}${name}.`);
}

const longestKnown = 24;

function subjectOf(method: string, params: JsonObject | undefined): string | undefined {
  if (params === undefined) return undefined;
  const field = subjectFields.get(method);
  const subject = method === 'completion/complete' ? referenceOf(params) : params[field ?? ''];
  if (field === undefined && method !== 'completion/complete') return undefined;
  if (typeof subject !== 'string') return undefined;
  const name = field === undefined ? 'params.ref' : `params.${field}`;
  if (subject.length > subjectLengthMax)
    throw invalidParams(`${name} must have at most ${subjectLengthMax} characters.`);
  if (!subject.isWellFormed()) throw invalidParams(`${name} ${unpairedRule}`);
  return subject;
}

/** What a completion is for: a prompt's name, or the URI (template) of a resource. */
function referenceOf({ ref }: JsonObject): JsonValue | undefined {
  if (!isObject(ref)) return undefined;
  return ref.type === 'ref/prompt' ? ref.name : ref.type === 'ref/resource' ? ref.uri : undefined;
}

const idRule = 'id must be a text of up to 1 kB or an integer within ±2^53.';
const unpairedRule = 'must not have half a surrogate pair.';

function idOf({ id }: JsonObject, idText: string | undefined): RpcId | undefined {
  if (id === undefined || id === null) return undefined;
  if (idText === undefined) throw invalid(idRule);
  return id as RpcId;
}

/** JSON text of the id, where it is one; an answer names it whatever else is wrong. */
function readableId(
  bytes: Buffer,
  { id: start }: EnvelopePlaces,
  { id }: JsonObject,
): string | undefined {
  if (start === undefined || id === undefined || !isId(id)) return undefined;
  const end = scalarEnd(bytes, start);
  if (end - start > idTextMax) return undefined;
  return bytes.toString('utf8', start, end);
}

function isId(value: JsonValue): value is RpcId {
  return typeof value === 'string'
    ? value.length <= idTextMax && value.isWellFormed()
    : Number.isSafeInteger(value);
}

/** The same for ids that are equal, however they are written: 1 and 1.0, but not 1 and "1". */
export function idKey(id: RpcId): string {
  return typeof id === 'number' ? `${id}` : `"${id}`;
}

function metaOf(holder: JsonObject): JsonObject | undefined {
  return isObject(holder._meta) ? holder._meta : undefined;
}

/** Counting the names of larger ones costs more than looking for the few that matter. */
const countedBytesMax = 4096;

interface Parsed {
  readonly document: JsonValue;
  readonly scan: JsonScan;
  /** No object in it has two members of one name; false where nobody looked. */
  readonly hasEachNameOnce: boolean;
}

function parsed(bytes: Buffer, bounds: MessageBounds, text: string | undefined): Parsed {
  try {
    const scan = scanJson(bytes, bounds);
    const document = readJson(bytes, bounds, { scan, text }) as JsonValue;
    const mayDouble = bounds.allowsDoubledNames;
    // Of an answer the names of the envelope are all that is looked at.
    const isCounted = !mayDouble || (bytes.length <= countedBytesMax && isAsking(document));
    const hasEachNameOnce = isCounted && scan.members <= countNames(document);
    if (!mayDouble && !hasEachNameOnce)
      throw ambiguous('an object in it has two members of one name.');
    return { document, scan, hasEachNameOnce };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const isLarge = error.fault === 'too-large';
    throw new McpFault({
      status: isLarge ? 413 : 400,
      code: error.fault === 'malformed' ? rpcCodes.parseError : rpcCodes.invalidRequest,
      message: `The message is ${error.message}.`,
    });
  }
}

function isAsking(document: JsonValue): boolean {
  return isObject(document) && document.params !== undefined;
}

/** Whether any object in these bytes of a value has two members of one name. */
export function hasDoubledNames(bytes: Buffer, value: JsonValue): boolean {
  return scanJson(bytes, jsonBounds.reply).members > countNames(value);
}

/** Names of all objects in it. Depth is bounded where it was parsed. */
function countNames(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countNames(item);
    return count;
  }
  for (const key of Object.keys(value)) count += 1 + countNames(value[key] as JsonValue);
  return count;
}

/** Some senders put a byte order mark before their JSON. */
function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function ambiguous(what: string): McpFault {
  return invalid(`Readers would not agree on the message: ${what}`);
}

function invalid(message: string): McpFault {
  return new McpFault({ status: 400, code: rpcCodes.invalidRequest, message });
}

function invalidParams(message: string): McpFault {
  return new McpFault({ status: 400, code: rpcCodes.invalidParams, message });
}

function withId({ status, code, message, data }: McpFault, idText: string): McpFault {
  return new McpFault({ status, code, message, data, idText });
}
