import { invalidField } from '@sluice/errors';
import { isUuid } from '../../kernel/names/ids.ts';

/** The last server of a page: the next page begins after it, whatever was added since. */
export interface Cursor {
  createdAt: Date;
  id: string;
}

export function encodeCursor({ createdAt, id }: Cursor): string {
  return Buffer.from(`${createdAt.getTime()} ${id}`).toString('base64url');
}

/** @throws 400 for what was never given out. */
export function decodeCursor(text: string): Cursor {
  const [time = '', id = ''] = Buffer.from(text, 'base64url').toString('utf8').split(' ');
  if (!/^\d{1,15}$/.test(time) || !isUuid(id))
    throw invalidField('query.cursor', 'is no cursor of this list');
  return { createdAt: new Date(Number(time)), id };
}
