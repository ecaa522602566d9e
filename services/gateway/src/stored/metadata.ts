import { GatewayError } from '@sluice/errors';
import { isObject } from '@sluice/mcp';
import type { JsonObject, JsonValue } from '@sluice/providers';

/** As OpenAI has it, of whatever is kept. */
const members = 16;
const keyLength = 64;
const valueLength = 512;

/** Texts by names; none where nothing is said. @throws GatewayError `request.invalid_field` */
export function readMetadata(metadata: JsonValue | undefined): JsonObject {
  if (metadata === undefined || metadata === null) return {};
  const entries = isObject(metadata) ? Object.entries(metadata) : undefined;
  if (
    entries === undefined ||
    entries.length > members ||
    entries.some(([key, value]) => !isText(key, keyLength) || !isText(value, valueLength))
  )
    throw new GatewayError('request.invalid_field', {
      field: 'body.metadata',
      message: `body.metadata must be an object of at most ${members} texts of at most ${valueLength} characters, under names of at most ${keyLength}.`,
    });
  return metadata as JsonObject;
}

/** Postgres keeps neither NUL nor half a character. */
function isText(value: JsonValue | undefined, lengthMax: number): boolean {
  if (typeof value !== 'string' || value.length > lengthMax) return false;
  return value.isWellFormed() && !value.includes('\0');
}
