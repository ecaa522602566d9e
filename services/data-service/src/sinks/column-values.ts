import { usage } from '@sluice/proto-stubs';
import { uuidText } from '@sluice/usage';
import { isPlausible } from '../columns/times.ts';
import { UnfitRecord } from '../columns/unfit-record.ts';

/** A row as JSON; 64-bit numbers are strings, because JSON's numbers lose digits. */
export type JsonRow = Record<
  string,
  string | number | boolean | readonly string[] | Record<string, string>
>;

export function uuid(bytes: Uint8Array, field: string): string {
  if (bytes.length !== 16) throw new UnfitRecord(`${field} is not 16 bytes`);
  return uuidText(bytes);
}

/** A clock far off would put the record into a partition that nobody looks at. */
export function timestamp(ms: bigint, field: string): string {
  if (!isPlausible(Number(ms))) throw new UnfitRecord(`${field} is not within 2020 to 2099`);
  return new Date(Number(ms)).toISOString().replace('T', ' ').slice(0, -1);
}

export function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

/** `OUTCOME_UPSTREAM_ERROR` → `upstream_error`; an outcome newer than this program keeps its number. */
export function outcomeName(outcome: number): string {
  const name: string | undefined = usage.Outcome[outcome];
  return name === undefined ? `outcome_${outcome}` : name.toLowerCase();
}
