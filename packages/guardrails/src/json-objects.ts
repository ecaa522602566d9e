import type { JsonValue } from '@sluice/contracts';
import { jsonBounds, readJsonText } from '@sluice/json';
import { type JsonObject, objectOf } from '@sluice/providers';
import { fencedBlocks } from './fenced-blocks.ts';

/** The JSON objects of a text: those in fenced blocks, else whatever stands between matching braces. */
export function jsonObjectsIn(text: string): JsonObject[] {
  const fenced = fencedBlocks(text).flatMap(({ body }) => objectsOf(parsed(body)));
  return fenced.length > 0 ? fenced : bracedObjects(text);
}

/** The same of any JSON: a text that is JSON as a whole counts, and fenced blocks may hold lists. */
export function jsonValuesIn(text: string): unknown[] {
  const whole = /^\s*[[{]/.test(text) ? parsed(text) : [];
  if (whole.length > 0) return whole;
  const fenced = fencedBlocks(text).flatMap(({ body }) => parsed(body));
  return fenced.length > 0 ? fenced : bracedObjects(text);
}

function bracedObjects(whole: string): JsonObject[] {
  const text = whole.length > bracedTextMax ? whole.slice(0, bracedTextMax) : whole;
  const objects: JsonObject[] = [];
  let start = text.indexOf('{');
  for (let attempts = 0; start !== -1 && attempts < attemptsMax; attempts++) {
    const end = closingBrace(text, start);
    const found = end === -1 ? [] : objectsOf(parsed(text.slice(start, end + 1)));
    objects.push(...found);
    // A brace that opens no object may still have one inside.
    start = text.indexOf('{', found.length > 0 ? end + 1 : start + 1);
  }
  return objects;
}

/** Each attempt may read to the end of the text: a text of braces alone must not cost its square. */
const attemptsMax = 5;
/** Beyond it, looking for where objects end would take too long. */
const bracedTextMax = 512 * 1024;

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Where the object that opens at `start` closes, strings regarded; -1 when it does not. */
function closingBrace(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === quote) at = closingQuote(text, at);
    else if (unit === openBrace) depth++;
    else if (unit === closeBrace && --depth === 0) return at;
  }
  return -1;
}

/** The position of the quote that ends the string opened at `start`, or the text's end. */
function closingQuote(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === quote) return at;
    if (unit === backslash) at++;
  }
  return at;
}

function objectsOf(values: unknown[]): JsonObject[] {
  return values
    .map((value) => objectOf(value as JsonValue))
    .filter((object) => object !== undefined);
}

/** The value, or nothing where the text is no JSON. */
function parsed(text: string): unknown[] {
  try {
    return [readJsonText(text, jsonBounds.reply)];
  } catch {
    // Most text between braces is no JSON; that is what is being found out.
    return [];
  }
}
