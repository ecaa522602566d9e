import type { OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { GatewayError } from '@sluice/errors';
import type { Request, Response } from 'express';

/** Answers that are sent as they are read: files, and lists without an end. */
export interface Downloads {
  /**
   * Sends them. What fails before the first piece is an error like any other; after it, the answer is cut off.
   * @throws 503 `admin.downloads_busy` when too many are under way
   */
  send(
    req: Request,
    res: Response,
    headers: OutgoingHttpHeaders,
    content: AsyncIterable<Uint8Array>,
  ): Promise<void>;
}

/** Each holds one of the connections that a gateway has for all admin calls. */
const downloadsMax = 8;
/** Whoever does not read on lets others have it. */
const idleMsMax = 60_000;

/** Files and lists share one count. */
export function createDownloads(): Downloads {
  let underWay = 0;
  return {
    async send(req, res, headers, content) {
      if (underWay >= downloadsMax)
        throw new GatewayError('admin.downloads_busy', { headers: { 'retry-after': '5' } });
      if (res.closed) return;
      underWay += 1;
      // Whoever left has left its place, though the next piece may still be on its way from a store.
      res.once('close', () => {
        underWay -= 1;
      });
      const pieces = content[Symbol.asyncIterator]();
      try {
        // Found before the answer begins: after that it could only be cut off.
        const first = await pieces.next();
        res.writeHead(200, { 'cache-control': 'private, no-store', ...headers });
        res.setTimeout(idleMsMax, () => res.destroy());
        if (req.method === 'HEAD') {
          res.end();
          return void (await pieces.return?.());
        }
        await pipeline(Readable.from(from(first, pieces), { objectMode: false }), res);
      } catch (error) {
        if (!res.headersSent) throw error;
        res.destroy();
      }
    },
  };
}

async function* from<T>(first: IteratorResult<T>, rest: AsyncIterator<T>): AsyncGenerator<T> {
  try {
    for (let piece = first; piece.done !== true; piece = await rest.next()) yield piece.value;
  } finally {
    await rest.return?.();
  }
}
