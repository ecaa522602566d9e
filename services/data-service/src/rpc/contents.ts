import { createHash, randomBytes } from 'node:crypto';
import { GatewayError } from '@sluice/errors';
import type { jobs } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import { notePassingBytes } from '@sluice/service';
import type { Logger } from '@sluice/telemetry';
import type { Register } from '../control-plane/register.ts';
import type { Contents } from '../files/contents.ts';
import type { EventParts } from '../files/event-parts.ts';
import { pause } from '../pause.ts';

export interface ContentParts {
  /** Undefined = no store is set, and there are no files. */
  readonly contents: Contents | undefined;
  readonly register: Register;
  readonly events: EventParts | undefined;
  readonly fileBytesMax: number;
  /** Of a response, or a conversation. */
  readonly keptBytesMax: number;
  readonly logger: Logger;
}

const eventsEveryMs = 100;
const lookEveryMs = 500;
/** The control plane may be started anew meanwhile. */
const lookAwayMsMax = 15_000;
/** Of one message. */
const pieceBytes = 256 * 1024;
/** Of one part, as at OpenAI. */
const partBytesMax = 64 * 1024 * 1024;

interface PartedFile extends Pick<jobs.ClaimUploadResponse, 'parts'> {
  readonly owner: jobs.Owner | undefined;
  readonly upload: jobs.Parted | undefined;
  readonly md5: string;
}

/** Contents that gateways bring and fetch for callers. */
export function contentHandlers({
  contents,
  register,
  fileBytesMax,
  keptBytesMax,
  events,
  logger,
}: ContentParts): RpcHandlers<typeof jobs.ContentService> {
  /** What another content has taken the place of. What is left of it goes with the last one. */
  const cleared = (store: Contents, of: string) =>
    store
      .delete(of)
      .catch((err: unknown) =>
        logger.warn({ err, content: of }, 'a content is cleared away later'),
      );
  const stored = () => {
    if (contents === undefined) throw new GatewayError('file.no_store');
    return contents;
  };

  /** What came of it is nobody's; should this fail, it is found after a day. */
  const clearAway = (store: Contents, id: string) =>
    store
      .delete(id)
      .then(() => register.ask(register.files.noteEmptied, { files: [id] }))
      .catch((err: unknown) => logger.warn({ err, file: id }, 'an upload is cleared away later'));

  /** The parts' contents, one after the other, as the content of one file. */
  async function putTogether(
    store: Contents,
    { owner, upload, parts, md5 }: PartedFile,
  ): Promise<jobs.File> {
    if (upload === undefined) throw new GatewayError('internal');
    const { filename, purpose, keptS } = upload;
    const { id, dataKey } = await register.ask(register.files.beginFile, { owner, filename });
    try {
      const writer = store.writer(id, Buffer.from(dataKey));
      const sum = createHash('md5');
      for (const part of parts)
        for await (const piece of store.read({ ...part, dataKey: Buffer.from(part.dataKey) })) {
          if (md5 !== '') sum.update(piece);
          await writer.write(piece);
        }
      if (BigInt(writer.bytes) !== upload.bytes) throw new GatewayError('file.damaged');
      if (md5 !== '' && sum.digest('hex') !== md5.toLowerCase())
        throw new GatewayError('upload.parts_invalid', {
          field: 'body.md5',
          message: 'The parts, put together, have another MD5 than body.md5.',
        });
      const segments = await writer.end();
      const { file } = await register.ask(register.files.finishFile, {
        id,
        purpose,
        expiresAfterS: keptS,
        bytes: upload.bytes,
        segments,
      });
      if (file === undefined) throw new GatewayError('file.unavailable');
      return file;
    } catch (error) {
      await clearAway(store, id);
      throw error;
    }
  }

  return {
    async *upload(requests, { signal }) {
      const store = stored();
      // Not `for await`: leaving it early would close the call before it is answered.
      const arriving = requests[Symbol.asyncIterator]();
      const first = await arriving.next();
      const head = first.done === true ? undefined : first.value.part;
      if (head?.case !== 'head') throw new GatewayError('internal');
      const { kind, version, uploadId } = head.value;
      const patience = { failFast: kind !== '' };
      const begun = await register.ask(register.files.beginFile, headOf(head.value), patience);
      const { id, contentBefore } = begun;
      // Two that write the next content at once do not write over each other: the first to be noted has written it.
      const content = kind === '' ? '' : randomBytes(8).toString('hex');
      const isPart = uploadId !== '';
      const ofFile = isPart ? Math.min(partBytesMax, fileBytesMax) : fileBytesMax;
      const bytesMax = kind === '' ? ofFile : keptBytesMax;
      try {
        const writer = store.writer(contentId(id, content), Buffer.from(begun.dataKey));
        for (;;) {
          const next = await arriving.next();
          const part = next.done === true ? undefined : next.value.part;
          if (part?.case === 'piece') {
            if (writer.bytes + part.value.length > bytesMax) throw tooLarge(kind, bytesMax);
            notePassingBytes(part.value.length);
            await writer.write(
              Buffer.from(part.value.buffer, part.value.byteOffset, part.value.length),
            );
          } else if (part?.case === 'tail' && !signal.aborted) {
            const { purpose, expiresAfterS, itemIds } = part.value;
            const segments = await writer.end();
            const { file } = await register.ask(register.files.finishFile, {
              id,
              purpose,
              expiresAfterS,
              bytes: BigInt(writer.bytes),
              segments,
              kind,
              version,
              content,
              isPart,
              itemIds,
            });
            if (contentBefore !== '') await cleared(store, contentId(id, contentBefore));
            yield { file };
            return;
          } else throw new GatewayError('request.aborted');
        }
      } catch (error) {
        if (version > 0) await cleared(store, contentId(id, content));
        else await clearAway(store, id);
        throw error;
      }
    },
    async createUpload(request) {
      stored();
      if (request.bytes > BigInt(fileBytesMax)) throw tooLarge('', fileBytesMax, 'body.bytes');
      const { owner, filename, purpose, bytes, keptS } = request;
      const announced = { owner, filename, purpose, bytes, keptS };
      const { upload } = await register.ask(register.uploads.beginUpload, announced);
      return { upload };
    },
    async completeUpload({ owner, id, partIds, md5 }) {
      const store = stored();
      const { workspaceId = '' } = owner ?? {};
      const claimed = await register.ask(register.uploads.claimUpload, {
        workspaceId,
        id,
        partIds,
      });
      const { upload, parts } = claimed;
      try {
        const file = await putTogether(store, { owner, md5, upload, parts });
        await register.ask(register.uploads.endUpload, { id, fileId: file.id });
        return { upload, file };
      } catch (error) {
        await register.ask(register.uploads.releaseUpload, { id }).catch((err: unknown) =>
          // After ten minutes it may be tried again all the same.
          logger.warn({ err, upload: id }, 'an upload could not be given back'),
        );
        throw error;
      }
    },
    async *readEvents({ workspaceId, id }, { signal }) {
      if (events === undefined) throw new GatewayError('file.no_store');
      const asked = { workspaceId, id, kind: 'response' };
      const opened = await register.ask(register.files.openFile, asked, { failFast: true });
      const dataKey = Buffer.from(opened.dataKey);
      const looks = new EndLooks(() => hasEndedNow(register, workspaceId, id));
      for (let index = 0; !signal.aborted; ) {
        // What was told before it ended is there then.
        const hasEnded = looks.hasEnded();
        const told = await events.get(id, dataKey, index);
        if (told !== undefined) {
          index += 1;
          yield { events: told };
        } else if (hasEnded) return;
        else await pause(eventsEveryMs, signal);
      }
    },
    async *readFile({ workspaceId, id, kind, offset, length }) {
      const store = stored();
      const asked = { workspaceId, id, kind };
      // Files are waited for, as they are at the gateway.
      const patience = { failFast: kind !== '' };
      const { file, dataKey } = await register.ask(register.files.openFile, asked, patience);
      if (file === undefined) throw new GatewayError('file.not_found');
      yield { part: { case: 'file', value: file } };
      const { content, segments } = file;
      const sealed = { id: contentId(id, content), dataKey: Buffer.from(dataKey), segments };
      const wanted = length === 0n ? undefined : Number(length);
      for await (const piece of store.read(sealed, Number(offset), wanted))
        for (let at = 0; at < piece.length; at += pieceBytes) {
          notePassingBytes(pieceBytes);
          yield { part: { case: 'piece', value: piece.subarray(at, at + pieceBytes) } };
        }
    },
  };
}

async function hasEndedNow(register: Register, workspaceId: string, id: string): Promise<boolean> {
  const asked = { workspaceId, id, kind: 'response' };
  const { batch } = await register.ask(register.batches.getBatch, asked);
  return endStates.has(batch?.status ?? '');
}

/** Looks now and then whether a response has ended, beside whoever tells its events: what is away for a moment keeps nobody from them. */
class EndLooks {
  readonly #look: () => Promise<boolean>;
  #hasEnded = false;
  #isLooking = false;
  #lookAtMs = 0;
  #failure: { readonly error: unknown; readonly sinceMs: number } | undefined;

  constructor(look: () => Promise<boolean>) {
    this.#look = look;
  }

  /** As far as is known. @throws GatewayError when the control plane says that there is none, or has been away for too long */
  hasEnded(): boolean {
    if (this.#failure !== undefined) {
      const { error, sinceMs } = this.#failure;
      const isAway = error instanceof GatewayError && error.code === 'file.unavailable';
      if (!isAway || Date.now() - sinceMs > lookAwayMsMax) throw error;
    }
    if (!this.#hasEnded && !this.#isLooking && Date.now() >= this.#lookAtMs) void this.#lookNow();
    return this.#hasEnded;
  }

  async #lookNow(): Promise<void> {
    this.#isLooking = true;
    const sinceMs = Date.now();
    try {
      this.#hasEnded = await this.#look();
      this.#failure = undefined;
    } catch (error) {
      this.#failure = { error, sinceMs: this.#failure?.sinceMs ?? sinceMs };
    }
    this.#isLooking = false;
    this.#lookAtMs = Date.now() + lookEveryMs;
  }
}

const endStates: ReadonlySet<string> = new Set(['completed', 'failed', 'expired', 'cancelled']);

function headOf({ owner, filename, kind, id, version, uploadId }: jobs.UploadHead) {
  return { owner, filename, kind, id, version, uploadId };
}

/** Under which a content is sealed and found. */
export function contentId(id: string, content: string): string {
  return content === '' ? id : `${id}/${content}`;
}

function tooLarge(kind: string, bytesMax: number, field = 'body.file'): GatewayError {
  if (kind !== '')
    return new GatewayError('response.too_large', {
      message: `A ${kind} that is kept here may have ${bytesMax} bytes.`,
    });
  return new GatewayError('file.too_large', {
    field,
    message: `A file may have ${bytesMax} bytes here.`,
  });
}
