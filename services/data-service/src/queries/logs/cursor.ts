import { GatewayError } from '@sluice/errors';
import { isUuid } from '@sluice/usage';

/** Where a page of logs ended: the next one begins after it, whatever was recorded meanwhile. */
export interface Cursor {
  readonly createdAtMs: number;
  readonly logId: string;
}

export function writeCursor({ createdAtMs, logId }: Cursor): string {
  return Buffer.from(`${createdAtMs} ${logId}`).toString('base64url');
}

/** @throws GatewayError `admin.validation` for what no page has named */
export function readCursor(text: string): Cursor {
  const match = /^(\d{1,15}) (\S+)$/.exec(Buffer.from(text, 'base64url').toString());
  if (match === null || !isUuid(match[2]!))
    throw new GatewayError('admin.validation', {
      field: 'cursor',
      message: 'cursor must be the next_cursor of a page.',
    });
  return { createdAtMs: Number(match[1]), logId: match[2]! };
}
