import type { JsonObject, JsonValue } from '@sluice/contracts';

/**
 * An answer of which words were changed, without the probabilities of those that
 * stood there, which tell them again, token by token. In every format they stand
 * beside what holds the words.
 */
export function withoutOldLogprobs(before: JsonObject, after: JsonObject): JsonObject {
  return (compared(before, after) ?? after) as JsonObject;
}

/** What `after` becomes; undefined = it says what was said before. */
function compared(before: JsonValue | undefined, after: JsonValue): JsonValue | undefined {
  if (before === after) return undefined;
  if (typeof after !== 'object' || after === null) return after;
  return Array.isArray(after) ? comparedList(before, after) : comparedObject(before, after);
}

function comparedList(before: JsonValue | undefined, after: JsonValue[]): JsonValue | undefined {
  const old = Array.isArray(before) ? before : [];
  let isOther = old.length !== after.length;
  const list = after.map((item, at) => {
    const other = compared(old[at], item);
    if (other !== undefined) isOther = true;
    return other ?? item;
  });
  return isOther ? list : undefined;
}

function comparedObject(before: JsonValue | undefined, after: JsonObject): JsonValue | undefined {
  const old = typeof before === 'object' && before !== null && !Array.isArray(before) ? before : {};
  let isOther = false;
  const entries = Object.entries(after).map(([name, value]): [string, JsonValue] => {
    const other = compared(old[name], value);
    if (other !== undefined) isOther = true;
    return [name, other ?? value];
  });
  if (!isOther) return undefined;
  for (const entry of entries)
    if (names.has(entry[0])) entry[1] = Array.isArray(entry[1]) ? [] : null;
  return Object.fromEntries(entries);
}

/** OpenAI's, and of those who answer as it does; Gemini's. */
const names: ReadonlySet<string> = new Set(['logprobs', 'logprobsResult']);
