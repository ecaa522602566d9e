import { type StoredKind, uuidOfStored } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { ArrivedRequest } from '../exchange/arrived-request.ts';
import type { BodyReply } from '../exchange/reply.ts';

export function jsonReply(value: object, status = 200): BodyReply {
  const body = Buffer.from(JSON.stringify(value));
  return { kind: 'body', status, headers: { 'content-type': 'application/json' }, body };
}

/** Which part of a list is asked for. @throws GatewayError `request.invalid_field` */
export function readPage(
  { search }: ArrivedRequest,
  kind: StoredKind,
  { usual, most }: { usual: number; most: number },
): { after: string; limit: number; query: URLSearchParams } {
  const query = new URLSearchParams(search);
  const limit = pageLimit(query, { usual, most });
  const after = query.get('after');
  const uuid = after === null ? '' : uuidOfStored(kind, after);
  if (uuid === undefined)
    throw new GatewayError('request.invalid_field', {
      field: 'query.after',
      message: `query.after must be the id of a ${kind} of this list.`,
    });
  return { after: uuid, limit, query };
}

/** @throws GatewayError `request.invalid_field` */
export function pageLimit(
  query: URLSearchParams,
  { usual, most }: { usual: number; most: number },
): number {
  const sent = query.get('limit');
  const limit = sent === null ? usual : /^\d{1,6}$/.test(sent) ? Number(sent) : 0;
  if (limit < 1 || limit > most)
    throw new GatewayError('request.invalid_field', {
      field: 'query.limit',
      message: `query.limit must be a whole number from 1 to ${most}.`,
    });
  return limit;
}
