import { randomBytes } from 'node:crypto';
import { GatewayError } from '@sluice/errors';
import type { jobs } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import type { Logger } from '@sluice/telemetry';
import type { Register } from '../control-plane/register.ts';
import type { Contents } from '../files/contents.ts';

export interface ContentParts {
  /** Undefined = no store is set, and there are no files. */
  readonly contents: Contents | undefined;
  readonly register: Register;
  readonly fileBytesMax: number;
  /** Of a response, or a conversation. */
  readonly keptBytesMax: number;
  readonly logger: Logger;
}

/** Of one message. */
const pieceBytes = 256 * 1024;

/** Contents that gateways bring and fetch for callers. */
export function contentHandlers({
  contents,
  register,
  fileBytesMax,
  keptBytesMax,
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

  return {
    async *upload(requests, { signal }) {
      const store = stored();
      // Not `for await`: leaving it early would close the call before it is answered.
      const arriving = requests[Symbol.asyncIterator]();
      const first = await arriving.next();
      const head = first.done === true ? undefined : first.value.part;
      if (head?.case !== 'head') throw new GatewayError('internal');
      const { kind, version } = head.value;
      const begun = await register.ask(register.files.beginFile, headOf(head.value));
      const { id, contentBefore } = begun;
      // Two that write the next content at once do not write over each other: the first to be noted has written it.
      const content = kind === '' ? '' : randomBytes(8).toString('hex');
      const bytesMax = kind === '' ? fileBytesMax : keptBytesMax;
      try {
        const writer = store.writer(contentId(id, content), Buffer.from(begun.dataKey));
        for (;;) {
          const next = await arriving.next();
          const part = next.done === true ? undefined : next.value.part;
          if (part?.case === 'piece') {
            if (writer.bytes + part.value.length > bytesMax) throw tooLarge(kind, bytesMax);
            await writer.write(
              Buffer.from(part.value.buffer, part.value.byteOffset, part.value.length),
            );
          } else if (part?.case === 'tail' && !signal.aborted) {
            const { purpose, expiresAfterS } = part.value;
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
            });
            if (contentBefore !== '') await cleared(store, contentId(id, contentBefore));
            yield { file };
            return;
          } else throw new GatewayError('request.aborted');
        }
      } catch (error) {
        if (version > 0) {
          await cleared(store, contentId(id, content));
          throw error;
        }
        // What came of it is nobody's; should this fail, it is found after a day.
        await store
          .delete(id)
          .then(() => register.ask(register.files.noteEmptied, { files: [id] }))
          .catch((err: unknown) =>
            logger.warn({ err, file: id }, 'an upload is cleared away later'),
          );
        throw error;
      }
    },
    async *readFile({ workspaceId, id, kind }) {
      const store = stored();
      const asked = { workspaceId, id, kind };
      const { file, dataKey } = await register.ask(register.files.openFile, asked);
      if (file === undefined) throw new GatewayError('file.not_found');
      yield { part: { case: 'file', value: file } };
      const { content, segments } = file;
      const sealed = { id: contentId(id, content), dataKey: Buffer.from(dataKey), segments };
      for await (const piece of store.read(sealed))
        for (let at = 0; at < piece.length; at += pieceBytes)
          yield { part: { case: 'piece', value: piece.subarray(at, at + pieceBytes) } };
    },
  };
}

function headOf({ owner, filename, kind, id, version }: jobs.UploadHead) {
  return { owner, filename, kind, id, version };
}

/** Under which a content is sealed and found. */
export function contentId(id: string, content: string): string {
  return content === '' ? id : `${id}/${content}`;
}

function tooLarge(kind: string, bytesMax: number): GatewayError {
  if (kind !== '')
    return new GatewayError('response.too_large', {
      message: `A ${kind} that is kept here may have ${bytesMax} bytes.`,
    });
  return new GatewayError('file.too_large', {
    field: 'body.file',
    message: `A file may have ${bytesMax} bytes here.`,
  });
}
