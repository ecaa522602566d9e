import { parseText } from '@sluice/json';
import type { JsonObject } from '@sluice/providers';

/** What the control plane wrote as a JSON object; undefined = nothing, or none. */
export function readObject(text: string): JsonObject | undefined {
  if (text === '') return undefined;
  try {
    const value: unknown = parseText(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
