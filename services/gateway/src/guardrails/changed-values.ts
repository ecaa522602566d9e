import type { JsonObject, JsonValue } from '@sluice/contracts';

export interface ChangedValue {
  readonly path: readonly (string | number)[];
  /** Undefined = it is not there. */
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

/** The innermost values in which two documents differ. */
export function changedValues(before: JsonObject, after: JsonObject): ChangedValue[] {
  const found: ChangedValue[] = [];
  const waiting: ChangedValue[] = [{ path: [], before, after }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, before, after } = next;
    if (before === after) continue;
    if (isObject(before) && isObject(after))
      for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
        waiting.push({ path: [...path, name], before: own(before, name), after: own(after, name) });
    else if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
      before.forEach((item, at) => {
        waiting.push({ path: [...path, at], before: item, after: after[at] });
      });
    else found.push(next);
  }
  return found;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function own(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
