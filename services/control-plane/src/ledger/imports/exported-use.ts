import { invalidField } from '@sluice/errors';

/** What a line of an export tells; what its kind of export does not is absent. */
export interface ExportedUse {
  readonly day: string;
  readonly model: string;
  readonly requests?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly costNanoUsd?: bigint;
}

/** A fault of an export, with its place in it. */
export function faultAt(place: string, message: string) {
  return invalidField('body.data', `${place} ${message}`);
}

export function countAt(place: string, value: unknown): number {
  const count = isBlank(value) ? 0 : numberIn(value);
  if (!Number.isSafeInteger(Math.round(count)) || count < 0) throw faultAt(place, 'is no count');
  return Math.round(count);
}

/** Decimal text of a currency unit that is worth so many nano-dollars. */
export function moneyAt(place: string, value: unknown, nanoUsd: number): bigint {
  const money = Math.round(numberIn(value) * nanoUsd);
  if (!Number.isSafeInteger(money)) throw faultAt(place, 'is no amount');
  return BigInt(money);
}

/** What an export leaves out. */
export function isBlank(value: unknown): boolean {
  return value === null || value === undefined || (typeof value === 'string' && !value.trim());
}

/** A number, or the text of one as people write it; NaN = it is none. */
function numberIn(value: unknown): number {
  if (typeof value === 'number') return value;
  const isDecimal = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i.test(String(value));
  return isDecimal ? Number(value) : Number.NaN;
}

export function modelAt(place: string, value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '')
    throw faultAt(place, 'names no model: export by model');
  return value.trim();
}

/** Of a Unix time in seconds, or of text that begins with the day. */
export function dayAt(place: string, value: unknown): string {
  const date =
    typeof value === 'number' || /^\d+(?:\.0)?$/.test(String(value))
      ? new Date(Number(value) * 1000)
      : new Date(/^\d{4}-\d{2}-\d{2}/.exec(String(value))?.[0] ?? Number.NaN);
  const ms = date.getTime();
  if (!(ms >= Date.UTC(2020, 0, 1) && ms < Date.UTC(2100, 0, 1))) throw faultAt(place, 'is no day');
  return date.toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/** All amounts are in dollars, whatever the case. */
export function checkDollars(place: string, currency: unknown): void {
  if (String(currency).trim().toLowerCase() !== 'usd')
    throw faultAt(place, 'is another currency than USD');
}
