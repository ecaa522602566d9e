import { GatewayError } from '@sluice/errors';
import { isUuid } from '@sluice/usage';
import type { Parameters } from '../parameters.ts';

/** @throws GatewayError `admin.validation` when the text is no UUID */
export function checkUuid(id: string, field: string): void {
  if (!isUuid(id))
    throw new GatewayError('admin.validation', { field, message: `${field} must be a UUID.` });
}

/** The millisecond that a UUIDv7 names. */
export function msOfId(id: string): number {
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16);
}

/** A record is of its request's arrival, its own id a little younger: how much is bounded by how long one may take. */
export const longestRequestMs = 24 * 3_600_000;
/** Clocks are set back at times. */
export const clockSlipMs = 60_000;

/** An id among rows that are found by its time first, as a granule's bounds tell it. */
export function isId(column: 'id' | 'request_id', id: string, parameters: Parameters): string {
  return `UUIDv7ToDateTime(${column}, 'UTC') = ${instant(msOfId(id), parameters)}
    AND ${column} = toUUID(${parameters.bind('String', id)})`;
}

/** The same of any of these. */
export function isAnyId(
  column: 'id' | 'request_id',
  ids: readonly string[],
  parameters: Parameters,
): string {
  const times = [...new Set(ids.map(msOfId))].map((ms) => `fromUnixTimestamp64Milli(${ms}, 'UTC')`);
  return `UUIDv7ToDateTime(${column}, 'UTC') IN (${times.join(',')})
    AND ${column} IN ${parameters.bindTexts(ids)}`;
}

export function instant(ms: number, parameters: Parameters): string {
  return `fromUnixTimestamp64Milli(${parameters.bind('Int64', ms)}, 'UTC')`;
}
