import { GatewayError } from '@sluice/errors';
import {
  JsonError,
  type JsonScan,
  jsonBounds,
  readJson,
  readJsonObject,
  scanJson,
  spellingsOf,
} from '@sluice/json';
import type { JsonObject, JsonValue } from '@sluice/providers';

/** Members that decide what a request is: whoever reads it after us must find the same ones. */
const decisive = ['model', 'stream'] as const;

/**
 * A caller's body as an object, looked at before it is parsed.
 * @throws GatewayError `request.malformed_json`, `request.too_deep`, `request.too_many_values`,
 *   `request.ambiguous_member`, `request.invalid_field`
 */
export function parseJsonBody(bytes: Buffer): JsonObject {
  if (bytes.length === 0)
    throw new GatewayError('request.malformed_json', {
      field: 'body',
      message: 'The request has no body.',
    });
  const scan = scanJson(bytes, jsonBounds.request);
  const value = parsed(bytes, scan);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new GatewayError('request.invalid_field', {
      field: 'body',
      message: 'The request body must be a JSON object.',
    });
  refuseAmbiguous(bytes, scan);
  return value as JsonObject;
}

function parsed(bytes: Buffer, scan: JsonScan): unknown {
  try {
    return readJson(bytes, jsonBounds.request, { scan });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new GatewayError(codes[error.fault], {
      field: 'body',
      message: `The request body is ${error.message}.`,
      cause: error.cause,
    });
  }
}

const codes = {
  malformed: 'request.malformed_json',
  'too-large': 'request.too_large',
  'too-deep': 'request.too_deep',
  'too-many-values': 'request.too_many_values',
} as const;

/** Of two members with one name, and of names in another case, readers choose differently. */
function refuseAmbiguous(bytes: Buffer, scan: JsonScan): void {
  for (const name of decisive) {
    const spellings = spellingsOf(bytes, scan, name);
    if (spellings.length === 0 || (spellings.length === 1 && spellings[0] === name)) continue;
    throw new GatewayError('request.ambiguous_member', {
      field: `body.${name}`,
      message: `The request body may have one member ${name}, spelled like this; it has ${spellings.slice(0, 5).join(', ')}.`,
    });
  }
}

/** The object that these bytes are as JSON; undefined when they are not one, which is for the caller to judge. */
export function jsonObjectIn(bytes: Buffer): JsonObject | undefined {
  return readJsonObject(bytes, jsonBounds.reply) as JsonObject | undefined;
}

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
