import { uuidOfStored } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { jobs } from '@sluice/proto-stubs';
import type { ArrivedRequest } from '../exchange/arrived-request.ts';
import type { Reply, ReplySink, StreamReply } from '../exchange/reply.ts';
import { asksForPart, type ByteRange, byteRange } from '../http/byte-range.ts';
import { type FormTexts, readUploadForm } from '../http/upload-form.ts';
import { presentFile, presentPage } from './present.ts';
import { faultOf, type StoredRegister } from './register.ts';
import { jsonReply, readPage } from './requests.ts';

/** On whose behalf something is asked. */
export interface StoredOwner {
  readonly organisationId: string;
  readonly workspaceId: string;
  /** Empty where no key asks, but a token. */
  readonly apiKeyId: string;
}

/** What files are sent for. */
export const purposes: readonly string[] = [
  'batch',
  'fine-tune',
  'assistants',
  'vision',
  'user_data',
  'evals',
];

const filenameLengthMax = 255;
const keptSecondsMin = 3_600;
const keptSecondsMax = 2_592_000;
const pageMax = 10_000;

/** Takes a file in as it flows: nothing here holds more than a piece of it. */
export async function createFile(
  arrival: ArrivedRequest,
  owner: StoredOwner,
  register: StoredRegister,
): Promise<Reply> {
  const { file } = await sendContent(arrival, register, { owner, field: 'file', tailOf });
  return jsonReply(presentFile(file));
}

interface ContentToSend {
  readonly owner: StoredOwner;
  /** The form's own of the file. */
  readonly field: string;
  /** What it is a part of. */
  readonly uploadId?: string;
  readonly tailOf: (texts: FormTexts) => { purpose: string; expiresAfterS: bigint };
}

/** The one file of a form, sent on to the data service. */
export async function sendContent(
  arrival: ArrivedRequest,
  register: StoredRegister,
  { owner, field, uploadId = '', tailOf: tailFrom }: ContentToSend,
): Promise<{ file: jobs.File }> {
  let call: ReturnType<StoredRegister['upload']> | undefined;
  const { promise: done, resolve, reject } = Promise.withResolvers<jobs.UploadResponse>();
  done.catch(() => {});
  try {
    const texts = await readUploadForm(
      arrival.bodyStream(),
      arrival.headers,
      async ({ filename, content }) => {
        const opened = register.upload();
        call = opened;
        opened.on('data', resolve);
        opened.on('error', (error) => reject(faultOf(error)));
        opened.on('end', () => reject(new GatewayError('file.unavailable')));
        const head = { owner, filename: named(filename), uploadId };
        opened.say({ part: { case: 'head', value: head } });
        for await (const piece of content) {
          if (opened.say({ part: { case: 'piece', value: piece } })) continue;
          // Refused in the middle, it is drained by nobody.
          await Promise.race([new Promise((drained) => opened.once('drain', drained)), done]);
        }
      },
      field,
    );
    if (call === undefined) throw new GatewayError('internal');
    call.say({ part: { case: 'tail', value: tailFrom(texts) } });
    call.end();
    const { file } = await done;
    if (file === undefined) throw new GatewayError('file.unavailable');
    return { file };
  } catch (error) {
    call?.cancel();
    throw error;
  }
}

export function named(filename: string): string {
  const text = filename.replaceAll(/\p{Cc}/gu, '').slice(0, filenameLengthMax);
  return text === '' ? 'file' : text;
}

/** What a form says of its file. @throws GatewayError `request.invalid_field` */
function tailOf(texts: FormTexts) {
  return keptAs(texts.get('purpose'), {
    anchor: texts.get('expires_after[anchor]'),
    // As one text nobody reads it, and the file would be kept longer than was asked.
    seconds: texts.get('expires_after[seconds]') ?? texts.get('expires_after'),
  });
}

/** @throws GatewayError `request.invalid_field` */
export function keptAs(
  purpose: unknown,
  { anchor, seconds: wanted }: { anchor?: unknown; seconds?: unknown },
) {
  if (typeof purpose !== 'string' || !purposes.includes(purpose))
    throw new GatewayError('request.invalid_field', {
      field: 'body.purpose',
      message: `body.purpose must be one of ${purposes.join(', ')}.`,
    });
  if (anchor === undefined && wanted === undefined) return { purpose, expiresAfterS: 0n };
  const seconds = secondsAfterCreation({ anchor, seconds: wanted }, 'body.expires_after');
  return { purpose, expiresAfterS: BigInt(seconds) };
}

/** How long a file is kept that is said to go. @throws GatewayError `request.invalid_field` */
export function secondsAfterCreation(
  { anchor, seconds: wanted }: { anchor?: unknown; seconds?: unknown },
  field: string,
): number {
  const seconds = /^\d{1,9}$/.test(String(wanted)) ? Number(wanted) : 0;
  if (anchor !== 'created_at' || seconds < keptSecondsMin || seconds > keptSecondsMax)
    throw new GatewayError('request.invalid_field', {
      field,
      message: `${field} must have the anchor created_at and ${keptSecondsMin} to ${keptSecondsMax} seconds.`,
    });
  return seconds;
}

export async function listFiles(
  arrival: ArrivedRequest,
  { workspaceId }: StoredOwner,
  register: StoredRegister,
): Promise<Reply> {
  const { after, limit, query } = readPage(arrival, 'file', { usual: pageMax, most: pageMax });
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc')
    throw new GatewayError('request.invalid_field', {
      field: 'query.order',
      message: 'query.order must be asc or desc.',
    });
  const purpose = query.get('purpose') ?? '';
  if (!/^[\w-]{0,64}$/.test(purpose))
    throw new GatewayError('request.invalid_field', {
      field: 'query.purpose',
      message: `query.purpose must be the purpose of a file, e.g. ${purposes.join(', ')}.`,
    });
  const { files, hasMore } = await register.ask(register.files.listFiles, {
    workspaceId,
    after,
    limit,
    ascending: order === 'asc',
    purpose,
  });
  return jsonReply(presentPage(files.map(presentFile), hasMore));
}

/** @throws GatewayError 404 `file.not_found` for what is none of ours */
export function fileUuid(id: string, field?: string): string {
  const uuid = uuidOfStored('file', id);
  if (uuid === undefined)
    throw new GatewayError('file.not_found', {
      message: `There is no file ${id.slice(0, 80)} here. Files of a provider are asked for by naming it.`,
      ...(field !== undefined && { field }),
    });
  return uuid;
}

export async function getFile(
  id: string,
  { workspaceId }: StoredOwner,
  register: StoredRegister,
): Promise<Reply> {
  const { file } = await register.ask(register.files.getFile, { workspaceId, id: fileUuid(id) });
  if (file === undefined) throw new GatewayError('file.not_found');
  return jsonReply(presentFile(file));
}

export async function deleteFile(
  id: string,
  { workspaceId }: StoredOwner,
  register: StoredRegister,
): Promise<Reply> {
  await register.ask(register.files.deleteFile, { workspaceId, id: fileUuid(id) });
  return jsonReply({ id, object: 'file', deleted: true });
}

/** One content, or the part of it that is asked for. */
export async function readFile(
  id: string,
  { method, headers, signal }: ArrivedRequest,
  owner: StoredOwner,
  register: StoredRegister,
): Promise<Reply> {
  if (method === 'HEAD') return headOf(id, owner, register);
  if (!asksForPart(headers.range)) return readFiles([id], undefined, owner, register, signal);
  const { workspaceId } = owner;
  const { file } = await register.ask(register.files.getFile, { workspaceId, id });
  if (file === undefined) throw new GatewayError('file.not_found');
  const range = byteRange(headers.range, Number(file.bytes));
  if (range === undefined)
    return {
      kind: 'body',
      status: 416,
      headers: { 'content-range': `bytes */${file.bytes}` },
      body: Buffer.alloc(0),
    };
  return readFiles([id], undefined, owner, register, signal, range);
}

/** What tells of a content, without it; of no part: that is of GET alone. */
async function headOf(
  id: string,
  { workspaceId }: StoredOwner,
  register: StoredRegister,
): Promise<Reply> {
  const { file } = await register.ask(register.files.getFile, { workspaceId, id });
  if (file === undefined) throw new GatewayError('file.not_found');
  return {
    kind: 'stream',
    status: 200,
    headers: contentHeaders(file.filename, Number(file.bytes)),
    pipeTo: (sink) => sink.end(),
    discard: () => {},
    wasWhole: () => true,
  };
}

function contentHeaders(filename: string | undefined, length: number) {
  const name = (filename ?? 'file').replaceAll(/[^\w.-]/g, '_');
  return {
    'content-type': 'application/octet-stream',
    'content-length': String(length),
    'accept-ranges': 'bytes',
    'content-disposition': `attachment; filename="${name}"`,
    'cache-control': 'private, no-store',
  };
}

/** Contents one after the other, byte for byte, as they come from the data service. */
export async function readFiles(
  ids: readonly string[],
  filename: string | undefined,
  { workspaceId }: StoredOwner,
  register: StoredRegister,
  signal: AbortSignal,
  range?: ByteRange,
): Promise<Reply> {
  const opened: OpenedFile[] = [];
  try {
    for (const id of ids) opened.push(await openFile(register, workspaceId, id, range));
  } catch (error) {
    for (const { stream } of opened) stream.cancel();
    throw error;
  }
  const all = opened.reduce((sum, { file }) => sum + Number(file.bytes), 0);
  const { offset, length } = range ?? { offset: 0, length: all };
  return {
    kind: 'stream',
    status: range === undefined ? 200 : 206,
    headers: {
      ...contentHeaders(filename ?? opened[0]?.file.filename, length),
      ...(range && { 'content-range': `bytes ${offset}-${offset + length - 1}/${all}` }),
    },
    ...flowOf(opened, signal),
  };
}

interface OpenedFile {
  readonly file: jobs.File;
  readonly stream: ReturnType<StoredRegister['read']>;
  /** Told of a failure once, also of one that came before anybody asked. */
  onFailure(listener: (error: GatewayError) => void): void;
}

/** Found before the answer begins: after that it could only be cut off. */
function openFile(
  register: StoredRegister,
  workspaceId: string,
  id: string,
  range: ByteRange | undefined,
): Promise<OpenedFile> {
  const part = range && { offset: BigInt(range.offset), length: BigInt(range.length) };
  const stream = register.read(workspaceId, id, '', part);
  let failure: GatewayError | undefined;
  let listener = (_error: GatewayError) => {};
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => stream.cancel(), openMsMax);
    stream.on('error', (error) => {
      clearTimeout(timer);
      failure = faultOf(error);
      reject(failure);
      listener(failure);
    });
    stream.once('data', ({ part }: jobs.ReadFileResponse) => {
      clearTimeout(timer);
      stream.pause();
      if (part.case !== 'file') return reject(new GatewayError('file.unavailable'));
      resolve({
        file: part.value,
        stream,
        onFailure(told) {
          listener = told;
          if (failure !== undefined) told(failure);
        },
      });
    });
  });
}

const openMsMax = 15_000;

function flowOf(
  opened: readonly OpenedFile[],
  signal: AbortSignal,
): Pick<StreamReply, 'pipeTo' | 'discard' | 'wasWhole'> {
  let isWhole = false;
  const cancelAll = () => {
    for (const { stream } of opened) stream.cancel();
  };
  // Nobody reads on for a caller who has left.
  signal.addEventListener('abort', cancelAll, { once: true });
  if (signal.aborted) cancelAll();
  const pipeFrom = (at: number, sink: ReplySink): void => {
    const next = opened[at];
    if (next === undefined) {
      isWhole = true;
      signal.removeEventListener('abort', cancelAll);
      sink.end();
      return;
    }
    const { stream } = next;
    stream.on('data', ({ part }: jobs.ReadFileResponse) => {
      if (part.case !== 'piece') return;
      const { buffer, byteOffset, length } = part.value;
      if (!sink.write(Buffer.from(buffer, byteOffset, length))) stream.pause();
    });
    sink.onDrain(() => stream.resume());
    stream.on('end', () => pipeFrom(at + 1, sink));
    next.onFailure((error) => {
      cancelAll();
      sink.cut(error.code);
    });
    stream.resume();
  };
  return { pipeTo: (sink) => pipeFrom(0, sink), discard: cancelAll, wasWhole: () => isWhole };
}
