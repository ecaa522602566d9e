/** What a vendor answers to a request it does not take. */
export interface Refusal {
  status: number;
  body: object;
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonRecord = { [key: string]: Json };

export function recordOf(value: unknown): JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonRecord)
    : {};
}

export function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value : [];
}
