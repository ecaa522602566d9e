import type { JsonObject, JsonValue } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { JsonError, jsonBounds, readJson, readJsonText } from '@sluice/json';
import { invalidField } from './invalid-field.ts';

/** Reads of JSON whose shape somebody else decides: a wrong type reads as absent. */
export function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}

/** An object that says something: `{}` and nulls do not. */
export function saidIn(value: unknown): JsonObject | undefined {
  const object = objectOf(value);
  for (const name in object) if (object[name] !== null && object[name] !== undefined) return object;
  return undefined;
}

/** Whether one of these is told: null is not. */
export function tellsAny(object: JsonObject, names: readonly string[]): boolean {
  return names.some((name) => (object[name] ?? null) !== null);
}

export function arrayOf(value: unknown): JsonValue[] | undefined {
  return Array.isArray(value) ? (value as JsonValue[]) : undefined;
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** A number of the caller's; null is nothing said. @throws GatewayError for any other type */
export function numberField(body: JsonObject, name: string): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number') throw invalidField(name, 'must be a number');
  return value;
}

export function booleanOf(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

/**
 * A count, 0 when absent. What cannot be one – negative, fractional, infinite, no
 * number – is `NaN`, also in sums, so that whoever bills it sees that it was told.
 */
export function countOf(value: unknown): number {
  if (value === undefined || value === null) return 0;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) return Number.NaN;
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}

export function parseObject(source: string | Buffer): JsonObject | undefined {
  // Every stream ends in a `[DONE]`, and an error of JSON.parse costs more than twenty events.
  if (typeof source === 'string' && !mayBeObject(source)) return undefined;
  return objectOf(parseJson(source));
}

/** Whether the first byte that is no blank opens an object. */
function mayBeObject(text: string): boolean {
  let at = 0;
  while (text.charCodeAt(at) <= 0x20) at++;
  return text.charCodeAt(at) === 0x7b;
}

/**
 * A reply as an object, or undefined.
 * @throws GatewayError `upstream.response_too_large` when it is over the bounds of a reply
 */
export function readReply(bytes: Buffer): JsonValue | undefined {
  try {
    return readJson(bytes, jsonBounds.reply, { isLossy: true }) as JsonValue;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    if (error.fault === 'malformed') return undefined;
    throw new GatewayError('upstream.response_too_large', {
      message: `The provider sent a reply that is ${error.message}.`,
    });
  }
}

/** Undefined: not JSON, or over the bounds of a reply. The caller of this function says what that means. */
export function parseJson(source: string | Buffer): JsonValue | undefined {
  try {
    return (
      typeof source === 'string'
        ? readJsonText(source, jsonBounds.reply)
        : readJson(source, jsonBounds.reply, { isLossy: true })
    ) as JsonValue;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/**
 * Without the keys whose value is undefined, so that bodies and golden files have
 * no holes. A copy where there are any: an object that keys were deleted from is
 * slow to read and to write ever after.
 */
export function compact<T extends object>(value: T): T {
  for (const key in value) if (value[key] === undefined) return withoutHoles(value);
  return value;
}

function withoutHoles<T extends object>(value: T): T {
  const kept = {} as T;
  for (const key in value) {
    if (value[key] === undefined) continue;
    // Assigning to it would replace the prototype instead of adding a key.
    if (key === '__proto__')
      Object.defineProperty(kept, key, {
        value: value[key],
        enumerable: true,
        writable: true,
        configurable: true,
      });
    else kept[key] = value[key];
  }
  return kept;
}
