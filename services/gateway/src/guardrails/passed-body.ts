import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { type JsonBounds, JsonError, jsonBounds, readJson } from '@sluice/json';
import type { JsonObject, JsonValue } from '@sluice/providers';
import { parseForm } from '../http/multipart.ts';
import { repeatedMember } from '../http/repeated-members.ts';

/** A body that passes through, as texts. */
export interface PassedBody {
  readonly document: JsonObject;
  /** Why it cannot be judged by what is in it; undefined = it can. */
  readonly unreadable: string | undefined;
  /** `object`: the body is the document; `list`: it is the document's `body`; `other`: words are taken out of it and cannot be put back. */
  readonly kind: 'none' | 'object' | 'list' | 'other';
}

export interface PassedRequest {
  readonly body: Buffer | undefined;
  /** There is one, of which nobody knows what is in it. */
  readonly isUnread: boolean;
  /** Pieces of it that go on. */
  readonly address: readonly string[];
  readonly headers: Pick<IncomingHttpHeaders, 'content-encoding' | 'content-type'>;
  /** Absent = those of a request. */
  readonly bounds?: JsonBounds;
  /** Who reads it looks at every text, whatever its member is called. */
  readonly isReadWhole?: true;
}

/**
 * What a request says of which no format is known: all of it counts. Whatever
 * could be read as something else where it goes cannot be judged.
 */
export function passedBody(passed: PassedRequest): PassedBody {
  const { body, isUnread, address, headers, bounds, isReadWhole } = passed;
  if (address.some(hasWords)) return unreadable('The address of the request has words in it.');
  if (isUnread) return unreadable('The body was not read.');
  if (body === undefined || body.length === 0) return read({}, 'none');
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    return unreadable('The body is compressed.');
  const type = headers['content-type'] ?? '';
  if (/^multipart\//i.test(type)) return passedForm(body, type);
  if (!isText(body)) {
    return /^(?:image|audio|video)\//i.test(type)
      ? read({}, 'other')
      : unreadable('The body is no text in UTF-8.');
  }
  const value = jsonValue(body, bounds);
  if (value === undefined && looksLikeJson(body))
    return unreadable('The body is no JSON that can be read.');
  if (value === undefined) {
    const text = body.toString('utf8');
    return /^application\/x-www-form-urlencoded\b/i.test(type)
      ? read(fieldsOf(text), 'other')
      : read({ text: linesOf(text) }, 'other');
  }
  const isUnclear =
    isReadWhole === true ? repeatedMember(body) !== undefined : isAmbiguous(body, value);
  if (isUnclear) return unreadable('The body has several members of one name.');
  if (!isObject(value)) return read({ body: value }, 'list');
  if (hasTokens(value)) return unreadable('The body has tokens in the place of words.');
  return read(value, 'object');
}

function read(document: JsonObject, kind: PassedBody['kind']): PassedBody {
  return { document, unreadable: undefined, kind };
}

function unreadable(why: string): PassedBody {
  return { document: {}, unreadable: why, kind: 'other' };
}

function passedForm(body: Buffer, type: string): PassedBody {
  let parts: ReturnType<typeof parseForm>;
  try {
    parts = parseForm(body, type);
  } catch {
    return unreadable('The form cannot be read.');
  }
  const texts: JsonValue[] = [];
  for (const { filename, contentType, data } of parts) {
    if (isText(data)) texts.push(linesOf(data.toString('utf8')));
    else if (!isMedia(contentType, filename))
      return unreadable('The form has a file that is neither text nor picture nor sound.');
    if (filename !== undefined) texts.push(filename);
  }
  return read({ parts: texts }, 'other');
}

/** By its type and its name: what a provider takes a file for, either decides. */
function isMedia(type = '', filename = ''): boolean {
  const [, extension] = /\.(\w+)\s*$/.exec(filename) ?? [];
  const isNamedSo = extension === undefined || mediaExtensions.has(extension.toLowerCase());
  return isNamedSo && /^(?:image|audio|video)\//i.test(type);
}

const mediaExtensions: ReadonlySet<string> = new Set(
  `png jpg jpeg gif webp bmp tif tiff heic heif avif mp3 mp2 mpga mpeg mpg m4a aac wav flac ogg oga
  opus amr aif aiff caf wma weba webm mp4 m4v mov mkv avi 3gp`.split(/\s+/),
);

/** Lines of JSON as what they say: escapes would hide words in them. */
function linesOf(text: string): JsonValue {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0 || !/^\s*[[{"]/.test(lines[0] ?? '')) return text;
  const values: JsonValue[] = [];
  for (const line of lines) {
    const value = jsonValue(Buffer.from(line));
    if (value === undefined || isAmbiguous(Buffer.from(line), value)) return text;
    values.push(value);
  }
  return values;
}

function fieldsOf(text: string): JsonObject {
  return { fields: [...new URLSearchParams(text)].flat() };
}

function jsonValue(bytes: Buffer, bounds: JsonBounds = jsonBounds.request): JsonValue | undefined {
  try {
    return readJson(bytes, bounds) as JsonValue;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

function looksLikeJson(bytes: Buffer): boolean {
  return /^[\s\ufeff]*[[{"]/.test(bytes.toString('utf8', 0, 1024));
}

/** As it would be read by somebody who takes bytes for words: no half characters, no other encoding. */
export function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}

/** More than identifiers, versions and keys have. */
function hasWords(address: string): boolean {
  if (!/[%+ ]/.test(address)) return false;
  try {
    return /\s/.test(decodeURIComponent(address.replaceAll('+', ' ')));
  } catch {
    return true;
  }
}

/** Lists of numbers, or of lists of them: words that are numbered already. */
export function hasTokens({ prompt, input }: JsonObject): boolean {
  return [prompt, input].some(
    (value) =>
      Array.isArray(value) &&
      value.some((item) => typeof item === 'number' || (Array.isArray(item) && item.length > 0)),
  );
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether readers differ about a document: in the first and the last of two members, or in the case of names. */
export function isAmbiguous(bytes: Buffer, value: JsonValue | undefined): boolean {
  return repeatedMember(bytes) !== undefined || hasOtherSpelling(value);
}

/** A member that models read is spelled with capitals: some readers (Go's) match any case. */
function hasOtherSpelling(root: JsonValue | undefined): boolean {
  const waiting = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) {
      for (const item of value) waiting.push(item);
      continue;
    }
    for (const name of Object.keys(value)) {
      const lower = name.toLowerCase();
      if (name !== lower && readByModels.has(lower)) return true;
      const isOwn = ownNames.has(name) || (name === 'input' && value.type === 'tool_use');
      if (!isOwn) waiting.push(value[name]);
    }
  }
  return false;
}

/** Members that hold what is said to a model: nobody's format spells them with capitals. */
const readByModels: ReadonlySet<string> = new Set([
  'messages',
  'content',
  'text',
  'prompt',
  'input',
  'instructions',
  'system',
  'contents',
  'parts',
  'role',
]);

/** Members within which names are the caller's own. */
const ownNames: ReadonlySet<string> = new Set([
  'tools',
  'functions',
  'response_format',
  'format',
  'schema',
  'metadata',
  'variables',
  'arguments',
  'args',
  'json_schema',
]);
