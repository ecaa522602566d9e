import { usage } from '@sluice/proto-stubs';
import { uuidText } from '@sluice/usage';

/** A row of `usage_records` as JSON; 64-bit numbers are strings, because JSON's numbers lose digits. */
export type UsageRow = Record<
  string,
  string | number | boolean | readonly string[] | Record<string, string>
>;

/** A record that is not fit to be a row; the message says why. */
export class UnfitRecord extends Error {}

export function uuid(bytes: Uint8Array, field: string): string {
  if (bytes.length !== 16) throw new UnfitRecord(`${field} is not 16 bytes`);
  return uuidText(bytes);
}

const noId = '00000000-0000-0000-0000-000000000000';

/** An id that is nearly always the record's own: that, and none, is stored as zeros, which take no room. */
export function otherId(bytes: Uint8Array, own: Uint8Array, field: string): string {
  return bytes.length === 0 || Buffer.compare(bytes, own) === 0 ? noId : uuid(bytes, field);
}

const earliestMs = Date.UTC(2020, 0, 1);
const latestMs = Date.UTC(2100, 0, 1);

/** A clock far off would put the record into a partition that nobody looks at. */
export function timestamp(ms: bigint, field: string): string {
  if (ms < earliestMs || ms >= latestMs)
    throw new UnfitRecord(`${field} is not within 2020 to 2099`);
  return new Date(Number(ms)).toISOString().replace('T', ' ').slice(0, -1);
}

export function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

/** Digits, as for all 64-bit numbers. */
export function countsIn(counts: Readonly<Record<string, bigint>>): Record<string, string> {
  return Object.fromEntries(Object.entries(counts).map(([key, count]) => [key, count.toString()]));
}

/** `OUTCOME_UPSTREAM_ERROR` → `upstream_error`; an outcome newer than this program keeps its number. */
export function outcomeName(outcome: usage.Outcome): string {
  const name: string | undefined = usage.Outcome[outcome];
  return name === undefined ? `outcome_${outcome}` : name.toLowerCase();
}
