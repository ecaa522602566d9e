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
  readonly logger: Logger;
}

/** Of one message. */
const pieceBytes = 256 * 1024;

/** Contents that gateways bring and fetch for callers. */
export function contentHandlers({
  contents,
  register,
  fileBytesMax,
  logger,
}: ContentParts): RpcHandlers<typeof jobs.ContentService> {
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
      const { owner, filename } = head.value;
      const { id, dataKey } = await register.ask(register.files.beginFile, { owner, filename });
      try {
        const writer = store.writer(id, Buffer.from(dataKey));
        for (;;) {
          const next = await arriving.next();
          const part = next.done === true ? undefined : next.value.part;
          if (part?.case === 'piece') {
            if (writer.bytes + part.value.length > fileBytesMax) throw tooLarge(fileBytesMax);
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
            });
            yield { file };
            return;
          } else throw new GatewayError('request.aborted');
        }
      } catch (error) {
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
    async *readFile({ workspaceId, id }) {
      const store = stored();
      const { file, dataKey } = await register.ask(register.files.openFile, { workspaceId, id });
      if (file === undefined) throw new GatewayError('file.not_found');
      yield { part: { case: 'file', value: file } };
      const sealed = { id, dataKey: Buffer.from(dataKey), segments: file.segments };
      for await (const piece of store.read(sealed))
        for (let at = 0; at < piece.length; at += pieceBytes)
          yield { part: { case: 'piece', value: piece.subarray(at, at + pieceBytes) } };
    },
  };
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError('file.too_large', {
    field: 'body.file',
    message: `A file may have ${bytesMax} bytes here.`,
  });
}
