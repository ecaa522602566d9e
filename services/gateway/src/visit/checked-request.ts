import { isUtf8 } from 'node:buffer';
import { operations } from '@sluice/contracts';
import { JsonError, jsonBounds, readJson } from '@sluice/json';
import { isNamedAsText, type JsonObject, type JsonValue } from '@sluice/providers';
import { servedBody } from '../calls/prepare/sent-body.ts';
import { unheardBy } from '../compiled/session-hooks.ts';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { Target } from '../exchange/target.ts';
import { carriesBody } from '../http/body-stream.ts';
import { parseForm } from '../http/multipart.ts';
import { repeatedMember } from '../http/repeated-members.ts';

/** A request as enforced guardrails are given it. */
export interface CheckedRequest {
  readonly document: JsonObject;
  /** Why it cannot be judged by what is in it; undefined = it can. */
  readonly unreadable: string | undefined;
  /** The body with other texts, where it is not the document that is sent; undefined = they cannot be put into it. */
  readonly rebuild: ((document: JsonObject) => Buffer) | undefined;
}

/**
 * What is sent to the target, as texts. Whatever could be read as something
 * else by the provider cannot be judged: two members of one name, encodings,
 * tokens in the place of words, files of text in the place of sounds.
 */
export function checkedRequest(
  exchange: ModelExchange,
  target: Target,
  shaped: JsonObject | undefined,
): CheckedRequest {
  const { subject } = exchange;
  if (subject.operation.body === 'raw') return passedRequest(exchange, target);
  const document = shaped ?? servedBody(exchange, target);
  return { document, unreadable: doubtOf(exchange, document), rebuild: undefined };
}

function doubtOf({ subject, bundle }: ModelExchange, document: JsonObject): string | undefined {
  if (subject.operation.reply === 'session') {
    const kind = kindOfSession[subject.operation.id] ?? 'realtime';
    return bundle?.enforced && unheardBy(bundle.enforced, kind);
  }
  if (subject.form !== undefined) {
    const isHidden = subject.form.some(({ filename, data }) =>
      filename === undefined
        ? data.length > fieldBytesMax
        : data.length > 0 && (isText(data) || isNamedAsText(filename)),
    );
    if (isHidden) return 'The form has a text in the place of a file.';
  } else if (subject.body !== undefined && isAmbiguous(subject.body, subject.json))
    return 'The body has several members of one name.';
  return hasTokens(document) ? 'The body has tokens in the place of words.' : undefined;
}

const kindOfSession: Readonly<Record<string, 'translation' | 'responses'>> = {
  [operations.realtimeTranslation.id]: 'translation',
  [operations.responseSession.id]: 'responses',
};

/** As `formFields` reads them. */
const fieldBytesMax = 1024 * 1024;

/** What passes through is not of any format: all that it says counts. */
function passedRequest(exchange: ModelExchange, target: Target): CheckedRequest {
  const { subject, arrival } = exchange;
  const { pathname, search } = subject;
  const unreadable = (why: string): CheckedRequest => ({
    document: {},
    unreadable: why,
    rebuild: undefined,
  });
  if (hasWords(pathname) || hasWords(search))
    return unreadable('The address of the request has words in it.');
  const { body } = subject;
  if (body === undefined || body.length === 0) {
    // Of these nothing is sent on; anything else would have been read.
    const isSent = carriesBody(arrival.headers) && !bodyless.has(arrival.method);
    if (isSent && body === undefined) return unreadable('The body was not read.');
    return { document: modelled({}, target), unreadable: undefined, rebuild: undefined };
  }
  const encoding = arrival.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    return unreadable('The body is compressed.');
  const type = arrival.headers['content-type'] ?? '';
  if (/^multipart\//i.test(type)) return passedForm(body, type, unreadable);
  if (!isText(body)) {
    return /^(?:image|audio|video)\//i.test(type)
      ? { document: {}, unreadable: undefined, rebuild: undefined }
      : unreadable('The body is no text in UTF-8.');
  }
  const value = jsonValue(body);
  if (value === undefined && looksLikeJson(body))
    return unreadable('The body is no JSON that can be read.');
  if (value === undefined) {
    const text = body.toString('utf8');
    if (/^application\/x-www-form-urlencoded\b/i.test(type))
      return { document: fieldsOf(text), unreadable: undefined, rebuild: undefined };
    return {
      document: { text: linesOf(text) },
      unreadable: undefined,
      rebuild: undefined,
    };
  }
  if (isAmbiguous(body, value)) return unreadable('The body has several members of one name.');
  if (!isObject(value))
    return {
      document: { body: value },
      unreadable: undefined,
      rebuild: ({ body: changed }) => Buffer.from(JSON.stringify(changed)),
    };
  if (hasTokens(value)) return unreadable('The body has tokens in the place of words.');
  return {
    document: modelled(value, target),
    unreadable: undefined,
    rebuild: (document) => {
      const { model: _served, ...rest } = document;
      // The name of the model is told as it was, wherever it stands.
      const model = target.rewritesModel ? target.model : value.model;
      return Buffer.from(JSON.stringify(model === undefined ? rest : { ...rest, model }));
    },
  };
}

const bodyless: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);

/** Checks of models find theirs under this name, wherever the address has it. */
function modelled(document: JsonObject, { servedModel }: Target): JsonObject {
  return servedModel === '' ? document : { ...document, model: servedModel };
}

function passedForm(
  body: Buffer,
  type: string,
  unreadable: (why: string) => CheckedRequest,
): CheckedRequest {
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
  return { document: { parts: texts }, unreadable: undefined, rebuild: undefined };
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

function jsonValue(bytes: Buffer): JsonValue | undefined {
  try {
    return readJson(bytes, jsonBounds.request) as JsonValue;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

function looksLikeJson(bytes: Buffer): boolean {
  return /^[\s\ufeff]*[[{"]/.test(bytes.toString('utf8', 0, 1024));
}

/** As it would be read by somebody who takes bytes for words: no half characters, no other encoding. */
function isText(bytes: Buffer): boolean {
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
function hasTokens({ prompt, input }: JsonObject): boolean {
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
function isAmbiguous(bytes: Buffer, value: JsonValue | undefined): boolean {
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
