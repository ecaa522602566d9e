import type { ExportField } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import type { ObjectStore } from '@sluice/object-store';
import { Router } from 'express';
import type { Database } from '../../kernel/database/client.ts';
import type { Downloads } from '../../kernel/http/downloads.ts';
import { isUuid } from '../../kernel/names/ids.ts';
import { type FilePart, partsOf } from './claims.ts';
import type { ExportLinks } from './export-links.ts';
import { fileFrame } from './parquet/file-frame.ts';
import { refuseDeniedFile } from './restrictions.ts';
import { findLogExport, type LogExportRow } from './store.ts';

export interface FileParts {
  readonly db: Database;
  readonly links: ExportLinks;
  /** Undefined = none is set, and there are no files. */
  readonly store: ObjectStore | undefined;
  readonly downloads: Downloads;
  readonly now: () => Date;
}

/** The files of exports, for whoever has a link: no key, no caller. */
export function exportFileRoutes({ db, links, store, downloads, now }: FileParts): Router {
  return Router().get('/v1/logs/exports/:exportId/file', async (req, res) => {
    const { exportId } = req.params;
    if (!isUuid(exportId)) throw new GatewayError('admin.not_found');
    links.check(exportId, req.query, now());
    const row = await findLogExport(db, exportId);
    if (row === null || row.status !== 'success') throw new GatewayError('admin.not_found');
    if (store === undefined || row.objectKey === null) throw new GatewayError('admin.export_gone');
    await refuseDeniedFile(db, row);
    const parts = partsOf(row);
    const { before, after, contentType, ending } = frameOf(row, parts);
    const bytes = parts.reduce((sum, part) => sum + part.bytes, before.length + after.length);
    const headers = {
      'content-type': contentType,
      'content-length': bytes,
      'content-disposition': `attachment; filename="logs-${exportId}.${ending}"`,
    };
    await downloads.send(req, res, headers, contentOf(parts, store, { before, after }));
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

/** What stands before the first part comes with it: whether that is there is known before anything is sent. */
async function* contentOf(
  parts: readonly FilePart[],
  store: ObjectStore,
  { before, after }: { before: Buffer; after: Buffer },
): AsyncGenerator<Buffer, void> {
  let pending = before;
  for (const { key } of parts) {
    const content = await store.get(key);
    if (content === undefined) throw new GatewayError('admin.export_gone');
    yield pending.length === 0 ? content : Buffer.concat([pending, content]);
    pending = nothing;
  }
  yield Buffer.concat([pending, after]);
}
