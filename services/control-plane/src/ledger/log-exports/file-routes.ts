import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ExportField } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import type { ObjectStore } from '@sluice/object-store';
import { Router } from 'express';
import type { Database } from '../../kernel/database/client.ts';
import { isUuid } from '../../kernel/names/ids.ts';
import { type FilePart, partsOf } from './claims.ts';
import type { ExportLinks } from './export-links.ts';
import { fileFrame } from './parquet/file-frame.ts';
import { findLogExport, type LogExportRow } from './store.ts';

export interface FileParts {
  readonly db: Database;
  readonly links: ExportLinks;
  /** Undefined = none is set, and there are no files. */
  readonly store: ObjectStore | undefined;
  readonly now: () => Date;
}

/** Each holds one of the connections that a gateway has for all admin calls. */
const downloadsMax = 8;
/** Whoever does not read on lets others have it. */
const idleMsMax = 60_000;

/** The files of exports, for whoever has a link: no key, no caller. */
export function exportFileRoutes({ db, links, store, now }: FileParts): Router {
  let downloads = 0;
  return Router().get('/v1/logs/exports/:exportId/file', async (req, res) => {
    const { exportId } = req.params;
    if (!isUuid(exportId)) throw new GatewayError('admin.not_found');
    links.check(exportId, req.query, now());
    const row = await findLogExport(db, exportId);
    if (row === null || row.status !== 'success') throw new GatewayError('admin.not_found');
    if (store === undefined || row.objectKey === null) throw new GatewayError('admin.export_gone');
    if (downloads >= downloadsMax)
      throw new GatewayError('admin.downloads_busy', { headers: { 'retry-after': '5' } });
    downloads += 1;
    try {
      const parts = partsOf(row);
      const { before, after, contentType, ending } = frameOf(row, parts);
      const content = contentOf(parts, store);
      // Found before the answer begins: after that it could only be cut off.
      const first = await content.next();
      res.writeHead(200, {
        'content-type': contentType,
        'content-length': parts.reduce(
          (sum, { bytes }) => sum + bytes,
          before.length + after.length,
        ),
        'content-disposition': `attachment; filename="logs-${exportId}.${ending}"`,
        'cache-control': 'private, no-store',
      });
      res.setTimeout(idleMsMax, () => res.destroy());
      if (req.method === 'HEAD') return void res.end();
      await pipeline(
        Readable.from(
          (async function* () {
            yield before;
            if (first.done !== true) yield first.value;
            yield* content;
            yield after;
          })(),
          { objectMode: false },
        ),
        res,
      );
    } catch (error) {
      if (!res.headersSent) throw error;
      res.destroy();
    } finally {
      downloads -= 1;
    }
  });
}

const nothing = Buffer.alloc(0);

/** What stands around the parts, and what the file is to be called. */
function frameOf(row: LogExportRow, parts: readonly FilePart[]) {
  return row.format === 'parquet'
    ? {
        ...fileFrame(row.requestedData as ExportField[], parts),
        contentType: 'application/vnd.apache.parquet',
        ending: 'parquet',
      }
    : { before: nothing, after: nothing, contentType: 'application/x-ndjson', ending: 'jsonl' };
}

async function* contentOf(
  parts: readonly FilePart[],
  store: ObjectStore,
): AsyncGenerator<Buffer, void> {
  for (const { key } of parts) {
    const content = await store.get(key);
    if (content === undefined) throw new GatewayError('admin.export_gone');
    yield content;
  }
}
