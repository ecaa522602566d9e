import type { JsonObject, JsonValue } from '@sluice/contracts';

export type Path = readonly (string | number)[];

/** What stands at a path; undefined = nothing. */
export function valueAt(root: JsonObject, path: Path): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const step of path) value = memberOf(value, step);
  return value;
}

/** Puts a value at a path; what leads there is made where it is missing. */
export function setAt(root: JsonObject, path: Path, value: JsonValue): void {
  let holder: JsonValue = root;
  for (const [index, step] of path.entries()) {
    const next = path[index + 1];
    if (next === undefined) define(holder, step, value);
    else {
      const held = memberOf(holder, step);
      const inner = typeof held === 'object' && held !== null ? held : empty(next);
      if (inner !== held) define(holder, step, inner);
      holder = inner;
    }
  }
}

function empty(firstStep: string | number): JsonValue {
  return typeof firstStep === 'number' ? [] : {};
}

function memberOf(holder: JsonValue | undefined, step: string | number): JsonValue | undefined {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, step))
    return undefined;
  return (holder as JsonObject)[step];
}

/** Defined, not assigned: a member may be called `__proto__`. */
function define(holder: JsonValue, step: string | number, value: JsonValue): void {
  if (typeof holder !== 'object' || holder === null) return;
  Object.defineProperty(holder, step, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
