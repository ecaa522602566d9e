import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { matchObject, type ObjectOperation } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { checkUpstreamUrl } from '@sluice/outbound';
import {
  batchRowMapper,
  type CallContext,
  type EndpointEntry,
  errorForCaller,
  type FileAnswer,
  type FileRequest,
  type FilesOperation,
  type FilesUse,
  filesOperations,
  type JsonObject,
  namesInRows,
  rewriteRows,
  type VendorFiles,
  VendorRefusal,
  withRequestHeaders,
} from '@sluice/providers';
import { addressAuthor } from '../calls/prepare/address-author.ts';
import { checkedBase } from '../calls/prepare/call-address.ts';
import { contextOf } from '../calls/prepare/call-context.ts';
import type { CallRules } from '../calls/prepare/call-rules.ts';
import { credentialHeaders } from '../calls/prepare/request-headers.ts';
import { rewrittenHeaders } from '../calls/reply-headers.ts';
import { isAskedAlone } from '../exchange/asked-alone.ts';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { PreparedRequest } from '../exchange/prepared-call.ts';
import type { BodyReply } from '../exchange/reply.ts';
import type { Target } from '../exchange/target.ts';
import type { AskVendor, PassingReply, VendorAnswer, VendorWork } from '../exchange/vendor-work.ts';
import { withoutTrailingSlashes } from '../http/request-target.ts';
import { type FormFile, readUploadForm } from '../http/upload-form.ts';
import { keptAt } from '../owners/kept-at.ts';
import { watchedRows } from '../owners/passing-rows.ts';
import { othersInRows } from '../owners/route-to-owner.ts';
import type { BatchParts } from './asking-batches.ts';
import type { VendorPlace } from './vendor-place.ts';

/** What a vendor says of files in its own words; undefined = it says it in OpenAI's, or the caller in the vendor's. */
export function vendorFilesOf(
  { id, of }: ObjectOperation & { id: string },
  { arrival, subject }: ModelExchange,
  { entry }: Target,
): VendorFiles | undefined {
  const { files } = entry;
  const operation = filesOperations[id];
  if (of !== 'files' || files === undefined || operation === undefined) return undefined;
  if (/^\/v1\/proxy(?:\/|$)/.test(subject.pathname)) return undefined;
  if (files.isNative?.(arrival.headers) === true) return undefined;
  return files.restPasses === true && files[operation] === undefined ? undefined : files;
}

/** An answer that is read whole: a page of a list at most. */
export const answerBytesMax = 8 * 1024 * 1024;
const tidyMsMax = 10_000;
const nothing = Buffer.alloc(0);

/**
 * One operation of files at a vendor that has them its own way.
 * @throws GatewayError for hosts that may not be called, and settings that are missing
 */
export function prepareFiles(
  files: VendorFiles,
  exchange: ModelExchange,
  target: Target,
  rules: CallRules & Partial<Pick<BatchParts, 'owners'>>,
): PreparedRequest {
  const { arrival, subject } = exchange;
  const operation = filesOperations[subject.operation.id] as FilesOperation;
  const context = contextOf(exchange, target, {}, rules);
  const fileId = matchObject(arrival.method, subject.pathname)?.parameters.file_id;
  const addressBy = addressAuthor(target);
  const base = checkedBase(
    target,
    entryOf(files, context, fileId),
    context,
    rules.hostRules,
    addressBy,
  );
  const name = randomUUID();
  const body = operation === 'upload' ? arrival.bodyStream() : null;
  const headers = workHeaders(target, {});
  const asking = {
    files,
    operation,
    fileId,
    name,
    context,
    exchange,
    target,
    rules,
    base,
    addressBy,
    headers,
  };
  return {
    translation: undefined,
    context,
    origin: base.origin,
    addressBy,
    method: 'GET',
    path: base.pathname,
    auth: target.entry.auth,
    headers,
    body,
    work: workOf(asking, body),
    claims: operation === 'upload' ? files.claims?.(context, name) : undefined,
    sentJson: {},
    droppedParams: [],
    hidesUsage: false,
  };
}

/** What each request of such work is sent with: our own words, none of the caller's. */
export function workHeaders(
  target: Target,
  ofVendor: Readonly<Record<string, string>> = target.entry.headers ?? {},
): Record<string, string | string[]> {
  return {
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': 'sluice',
    ...ofVendor,
    ...credentialHeaders(target, undefined),
    ...target.customHeaders,
  };
}

export function entryOf(
  files: VendorFiles,
  context: CallContext,
  fileId: string | undefined,
): EndpointEntry | undefined {
  const { base } = files;
  return base && { format: 'raw', path: '', baseUrl: () => base(context, fileId) };
}

interface Asking extends VendorPlace {
  readonly files: VendorFiles;
  readonly operation: FilesOperation;
  readonly fileId: string | undefined;
  readonly name: string;
  readonly context: CallContext;
  readonly exchange: ModelExchange;
}

function workOf(asking: Asking, body: Readable | null): VendorWork {
  const { files, operation, fileId = '', context, exchange, target } = asking;
  return async (askVendor, signal) => {
    const use: FilesUse = {
      facts: context,
      nowMs: exchange.arrival.startedAtMs,
      base: withoutTrailingSlashes(`${asking.base.origin}${asking.base.pathname}`),
      hasCustomHost: target.customHost !== undefined,
      ask: (request) => askWhole(request, asking, askVendor, signal),
      tidy: (request) =>
        askWhole(request, asking, askVendor, AbortSignal.timeout(tidyMsMax)).then(
          () => {},
          () => {
            // What is left behind is the vendor's to clear away.
          },
        ),
    };
    try {
      switch (operation) {
        case 'upload':
          if (files.upload === undefined || body === null) break;
          return json(await upload(files, body, asking, use));
        case 'retrieve':
          if (files.retrieve === undefined) break;
          return json(await files.retrieve(fileId, use));
        case 'delete':
          if (files.delete === undefined) break;
          return json(await files.delete(fileId, use));
        case 'list':
          if (files.list === undefined) break;
          return json(await files.list(new URLSearchParams(exchange.subject.search), use));
        case 'content':
          if (files.content === undefined) break;
          return await contentOf(await files.content(fileId, use), asking, askVendor, signal);
      }
      throw new Error(`${target.entry.id} does not ${operation} files`);
    } catch (error) {
      if (!(error instanceof VendorRefusal)) throw error;
      return refusal(error, context);
    }
  };
}

async function upload(
  files: VendorFiles,
  body: Readable,
  asking: Asking,
  use: FilesUse,
): Promise<JsonObject> {
  const { exchange, name, context, target } = asking;
  let made: JsonObject | undefined;
  await readUploadForm(body, exchange.arrival.headers, async (file) => {
    made = await files.upload?.(
      { ...file, content: watched(rowsOf(files, file, context, target), asking) },
      { ...use, name },
    );
  });
  if (made === undefined) throw new GatewayError('internal');
  return made;
}

/**
 * In a bucket a file can be written anew after its rows were read (`steps/read-rows.ts`): so nothing goes there that names another
 * workspace's. Elsewhere a file stays as it is.
 */
function watched(
  content: AsyncIterable<Buffer>,
  { exchange, target, rules: { owners }, base }: Asking,
): AsyncIterable<Buffer> {
  const names = namesInRows(target.entry.id, 'examples');
  if (owners === undefined || names.length === 0 || !isAskedAlone(target)) return content;
  return watchedRows(content, names, async (ids) => {
    const others = await othersInRows(exchange, owners, ids);
    const at = { origin: base.origin, target };
    const first = others.find(({ id, origin }) => origin === keptAt(id, at));
    if (first !== undefined) throw new GatewayError('object.owner_unknown', { field: first.field });
  });
}

/** The content, in rows of the vendor's where it is a batch's. */
function rowsOf(
  files: VendorFiles,
  { content, texts }: FormFile,
  context: CallContext,
  { entry, model }: Target,
) {
  if (files.rewritesRows !== true) return content;
  const { setting } = context;
  const named = setting('provider-model') ?? setting('aws-bedrock-model') ?? (model || undefined);
  const mapper = batchRowMapper(entry.id, {
    setting,
    ...(named !== undefined && { model: named }),
  });
  if (mapper === undefined) return content;
  return rewriteRows(content, { mapper, purpose: setting('file-purpose') ?? texts.get('purpose') });
}

/** Its bytes as they come; a part of them where a part is asked for. */
export async function contentOf(
  request: FileRequest,
  asking: VendorPlace & { readonly exchange: ModelExchange },
  askVendor: AskVendor,
  signal: AbortSignal,
): Promise<BodyReply | PassingReply> {
  const headers = { ...request.headers };
  for (const name of rangeHeaders) {
    const value = asking.exchange.arrival.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  const answer = await send({ ...request, headers }, asking, askVendor, signal);
  if (answer.status >= 400 && answer.status !== 416)
    throw new VendorRefusal(answer, await answer.readAll(answerBytesMax));
  const disposition = answer.headers['content-disposition'];
  return {
    kind: 'passing',
    answer,
    headers: {
      ...(disposition === undefined && { 'content-disposition': 'attachment' }),
      'cache-control': 'private, no-store',
    },
  };
}

const rangeHeaders = ['range', 'if-range'] as const;

export async function askWhole(
  request: FileRequest,
  asking: VendorPlace,
  askVendor: AskVendor,
  signal: AbortSignal,
): Promise<FileAnswer> {
  const answer = await send(request, asking, askVendor, signal);
  // The length of a `HEAD` is that of what it does not send.
  const bytes = request.method === 'HEAD' ? nothing : await answer.readAll(answerBytesMax);
  if (answer.status >= 400) throw new VendorRefusal(answer, bytes);
  return { status: answer.status, headers: answer.headers, bytes };
}

/** An address that the vendor gives is an address like any other: it is checked, and nobody's credential goes there. */
export function send(
  { method, url: text, headers, body, auth }: FileRequest,
  asking: VendorPlace,
  askVendor: AskVendor,
  signal: AbortSignal,
): Promise<VendorAnswer> {
  const url = new URL(text);
  const isOwn = url.origin === asking.base.origin;
  if (!isOwn) checkUpstreamUrl(text, asking.rules.hostRules, undefined, 'caller');
  return askVendor({
    origin: url.origin,
    path: text.slice(text.indexOf(url.host) + url.host.length) || '/',
    method,
    headers: isOwn
      ? withRequestHeaders(asking.headers as Record<string, string>, headers)
      : { ...headers },
    body:
      body === undefined || Buffer.isBuffer(body)
        ? (body ?? null)
        : Readable.from(body, { objectMode: false }),
    auth: isOwn ? (auth ?? asking.target.entry.auth) : undefined,
    addressBy: isOwn ? asking.addressBy : 'caller',
    signal,
  });
}

export function json(document: JsonObject): BodyReply {
  return {
    kind: 'body',
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(document)),
  };
}

/** The vendor's refusal in the words of OpenAI's errors. */
export function refusal(
  { status, headers, bytes }: VendorRefusal,
  context: CallContext,
): BodyReply {
  const { body } = errorForCaller('openai-chat', status, bytes, context);
  return {
    kind: 'body',
    status,
    headers: rewrittenHeaders(headers),
    body: body ?? Buffer.from('{}'),
  };
}
