import type { JsonObject, JsonValue } from '@sluice/contracts';
import { dropParams } from './drop-params.ts';
import type { ResolvedTarget } from './resolved-target.ts';

/**
 * The body as a target wants it: defaults where the caller was silent, then
 * overrides, then what is to be dropped. Undefined = the body stays as it is.
 * Never changes `json` itself.
 */
export function shapeParams(
  target: Pick<ResolvedTarget, 'defaultParams' | 'overrideParams' | 'dropParams'>,
  json: JsonObject,
): JsonObject | undefined {
  let shaped = json;
  if (target.defaultParams !== undefined) shaped = withDefaults(target.defaultParams, shaped);
  if (target.overrideParams !== undefined) shaped = withOverrides(target.overrideParams, shaped);
  if (target.dropParams !== undefined) shaped = dropParams(target.dropParams, shaped);
  return shaped === json ? undefined : shaped;
}

/** Spreading defines keys, so that one called `__proto__` stays an ordinary key. */
function withDefaults(defaults: Readonly<Record<string, unknown>>, json: JsonObject): JsonObject {
  for (const key of Object.keys(defaults))
    if (!Object.hasOwn(json, key)) return { ...(defaults as JsonObject), ...json };
  return json;
}

function withOverrides(overrides: Readonly<Record<string, unknown>>, json: JsonObject): JsonObject {
  for (const key of Object.keys(overrides))
    if (!isSame(json, key, overrides[key])) return { ...json, ...(overrides as JsonObject) };
  return json;
}

/** Objects count as different: comparing them costs more than copying the body's top level. */
function isSame(json: JsonObject, key: string, value: unknown): boolean {
  if (!Object.hasOwn(json, key)) return false;
  const held: JsonValue | undefined = json[key];
  return held === value && (typeof value !== 'object' || value === null);
}
