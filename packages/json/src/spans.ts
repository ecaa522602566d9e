import { textEnd } from './scan-json.ts';

/** Where a value stands in the bytes of a document: its first byte, and the byte behind its last. */
export interface JsonSpan {
  start: number;
  end: number;
}

/** A member of an object: where its value stands, and the name before it, quotes included. */
export interface MemberSpan extends JsonSpan {
  key: string;
  keyStart: number;
}

export const quote = 0x22;
const comma = 0x2c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/**
 * The members of the object that begins at `start` (spaces before it are skipped), in
 * their order, those of one name each. `bytes` must have been parsed: of what is not JSON it says nothing of use.
 */
export function memberSpans(bytes: Buffer, start = 0): MemberSpan[] {
  const members: MemberSpan[] = [];
  let at = skipSpace(bytes, skipSpace(bytes, start) + 1);
  while (bytes[at] === quote) {
    const keyEnd = stringEnd(bytes, at);
    const value = skipSpace(bytes, skipSpace(bytes, keyEnd) + 1);
    const end = valueEnd(bytes, value);
    members.push({ key: keyOf(bytes, at, keyEnd), keyStart: at, start: value, end });
    at = skipSpace(bytes, end);
    if (bytes[at] === comma) at = skipSpace(bytes, at + 1);
  }
  return members;
}

/** The items of the list that begins at `start`, in their order. `bytes` must have been parsed. */
export function itemSpans(bytes: Buffer, start = 0): JsonSpan[] {
  const items: JsonSpan[] = [];
  let at = skipSpace(bytes, skipSpace(bytes, start) + 1);
  while (at < bytes.length && bytes[at] !== closeList) {
    const end = valueEnd(bytes, at);
    items.push({ start: at, end });
    at = skipSpace(bytes, end);
    if (bytes[at] === comma) at = skipSpace(bytes, at + 1);
  }
  return items;
}

/** The position after the closing quote of the text that starts at `start`. */
export function stringEnd(bytes: Buffer, start: number): number {
  return textEnd(bytes, start, bytes.length);
}

export function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at++;
  return at;
}

/** 1 for the bytes that matter within objects and lists; all else is stepped over. */
const isNesting = new Uint8Array(256);
for (const byte of [quote, openList, closeList, openObject, closeObject]) isNesting[byte] = 1;

/** The position behind the value that starts at `start`. `bytes` must have been parsed. */
export function valueEnd(bytes: Buffer, start: number): number {
  const { length } = bytes;
  const first = bytes[start];
  if (first !== openObject && first !== openList) return scalarEnd(bytes, start);
  let at = start;
  let depth = 0;
  while (at < length) {
    const byte = bytes[at] as number;
    if (byte === quote) {
      at = stringEnd(bytes, at);
      continue;
    }
    at++;
    if (byte === openObject || byte === openList) depth++;
    else if ((byte === closeObject || byte === closeList) && --depth === 0) return at;
    while (at < length && isNesting[bytes[at] as number] === 0) at++;
  }
  return length;
}

/** The position behind the text, number or word that starts at `start`: in front of what follows it. */
export function scalarEnd(bytes: Buffer, start: number): number {
  if (bytes[start] === quote) return stringEnd(bytes, start);
  let at = start;
  while (at < bytes.length && !isBehindScalar(bytes[at] as number)) at++;
  return at;
}

function isBehindScalar(byte: number): boolean {
  return byte === comma || byte === closeObject || byte === closeList || isSpace(byte);
}

/** The name of a member, whose text stands there with its quotes. Nearly all are written as they are. */
export function keyOf(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start, end);
  return text.includes('\\') ? JSON.parse(text) : text.slice(1, -1);
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
