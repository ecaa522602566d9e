import { GatewayError } from '@sluice/errors';
import type { JsonObject, JsonValue } from '@sluice/providers';

/** Far above any real request, far below what recursion survives. */
const depthMax = 200;

/**
 * The body as an object.
 * @throws GatewayError `request.malformed_json`, `request.too_deep`, `request.invalid_field`
 */
export function parseJsonBody(bytes: Buffer): JsonObject {
  if (bytes.length === 0)
    throw new GatewayError('request.malformed_json', {
      field: 'body',
      message: 'The request has no body.',
    });
  let value: JsonValue;
  try {
    value = JSON.parse(utf8.decode(bytes)) as JsonValue;
  } catch (error) {
    const what = error instanceof SyntaxError ? `: ${error.message.slice(0, 120)}` : '';
    throw new GatewayError('request.malformed_json', {
      field: 'body',
      message: `The request body is not valid JSON${what}.`,
      cause: error,
    });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new GatewayError('request.invalid_field', {
      field: 'body',
      message: 'The request body must be a JSON object.',
    });
  // Each level takes two bytes at least.
  if (bytes.length > 2 * depthMax && deeperThan(value, depthMax))
    throw new GatewayError('request.too_deep', {
      field: 'body',
      message: `The request body is nested deeper than ${depthMax} levels.`,
    });
  return value;
}

/** The object that these bytes are as JSON; undefined when they are not one, which is for the caller to judge. */
export function jsonObjectIn(bytes: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Whether a parsed value is nested deeper than so many levels. Recursion stops there. */
export function deeperThan(value: JsonValue, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value)
      if (typeof item === 'object' && deeperThan(item, levels - 1)) return true;
    return false;
  }
  for (const key in value) {
    const item = value[key];
    if (typeof item === 'object' && item !== null && deeperThan(item, levels - 1)) return true;
  }
  return false;
}
