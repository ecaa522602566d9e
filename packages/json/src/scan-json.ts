import type { JsonBounds } from './bounds.ts';
import type { JsonFault } from './json-error.ts';

/** What one pass over the bytes of a document tells of it. */
export interface JsonScan {
  /** The bound that the document is over; the pass ended there, and the other facts are of what came before. */
  fault: JsonFault | undefined;
  depth: number;
  work: number;
  /** Of all objects, doubled ones counted each: more than there are names in what the parser makes of it. */
  members: number;
  /**
   * Where the names of the members of a top-level object stand, their quotes
   * included: start, end, start, end. `spellingsOf` reads them.
   */
  topLevelNames: number[];
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** 1 for the bytes that mean something between texts; digits, points and spaces are stepped over. */
const isStructure = new Uint8Array(256);
for (const byte of [quote, comma, colon, openList, closeList, openObject, closeObject])
  isStructure[byte] = 1;

/** A text is searched byte by byte so far, and by `indexOf` beyond, where that is worth a call. */
const nearBytes = 48;

/**
 * Counts what parsing these bytes would cost, without parsing them. Takes about
 * a nanosecond a byte, less within long texts, and no memory. Of bytes that are
 * not JSON it says nothing of use; the parser refuses them.
 */
export function scanJson(bytes: Buffer, { bytesMax, depthMax, workMax }: JsonBounds): JsonScan {
  const { length } = bytes;
  const topLevelNames: number[] = [];
  let fault: JsonFault | undefined = length > bytesMax ? 'too-large' : undefined;
  let depth = 0;
  let deepest = 0;
  let work = 1;
  let members = 0;
  // Whether the next text at this level is the name of a top-level member.
  let expectsName = false;
  let isObject = false;
  let at = fault === undefined ? 0 : length;
  while (at < length) {
    const byte = bytes[at] as number;
    if (byte === quote) {
      const end = textEnd(bytes, at, length);
      work += 3;
      if (expectsName) {
        expectsName = false;
        topLevelNames.push(at, end);
      }
      at = end;
      continue;
    }
    if (byte === comma) {
      work++;
      if (depth === 1) expectsName = isObject;
      if (work > workMax) break;
    } else if (byte === colon) {
      work += 8;
      members++;
    } else if (byte === openObject || byte === openList) {
      work += 4;
      if (depth === 0) {
        isObject = byte === openObject;
        expectsName = isObject;
      }
      depth++;
      if (depth > deepest) {
        deepest = depth;
        if (depth > depthMax) break;
      }
      if (work > workMax) break;
    } else if (byte === closeObject || byte === closeList) depth--;
    at++;
    while (at < length && isStructure[bytes[at] as number] === 0) at++;
  }
  if (fault === undefined && deepest > depthMax) fault = 'too-deep';
  else if (fault === undefined && work > workMax) fault = 'too-many-values';
  return { fault, depth: deepest, work, members, topLevelNames };
}

/** The position after the closing quote of the text that starts at `start`. */
export function textEnd(bytes: Buffer, start: number, length: number): number {
  let at = start + 1;
  for (;;) {
    const near = Math.min(at + nearBytes, length);
    while (at < near) {
      const byte = bytes[at];
      if (byte === quote) return at + 1;
      at += byte === backslash ? 2 : 1;
    }
    if (at >= length) return length;
    const found = bytes.indexOf(quote, at);
    if (found < 0) return length;
    let before = found;
    while (before > at && bytes[before - 1] === backslash) before--;
    if ((found - before) % 2 === 0) return found + 1;
    // An escaped quote; texts full of them are walked, not searched.
    at = found + 1;
  }
}
