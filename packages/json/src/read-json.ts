import type { JsonBounds } from './bounds.ts';
import { JsonError, type JsonFault } from './json-error.ts';
import { parseText } from './parse-text.ts';
import { type JsonScan, scanJson } from './scan-json.ts';

/** The dearest bytes are `{"":` and `}`: five of them for 15 units of work. */
const workPerByteMax = 3;
/** Each level takes two bytes. */
const bytesPerLevel = 2;

export interface ReadOptions {
  /** Of whoever has scanned the bytes already, with the same bounds. */
  scan?: JsonScan;
  /** Bytes that are no UTF-8 become replacement characters, and a byte order mark nothing; without it they are malformed. */
  isLossy?: boolean;
  /** What the bytes are as text, of whoever has decoded them. */
  text?: string | undefined;
}

/**
 * The value that these bytes are as JSON, looked at before it is parsed.
 * @throws JsonError
 */
export function readJson(
  source: Buffer,
  bounds: JsonBounds,
  { scan, isLossy = false, text }: ReadOptions = {},
): unknown {
  const bytes = isLossy ? withoutMark(source) : source;
  if (bytes.length > bounds.bytesMax) refuse('too-large', bounds);
  if (scan !== undefined || mayExceed(bytes.length, bounds))
    refuse((scan ?? scanJson(bytes, bounds)).fault, bounds);
  return parsed(text ?? (isLossy ? bytes.toString('utf8') : decoded(bytes)));
}

/**
 * The same of text.
 * @throws JsonError
 */
export function readJsonText(text: string, bounds: JsonBounds): unknown {
  // A UTF-16 unit is three bytes at most.
  if (3 * text.length > bounds.bytesMax && Buffer.byteLength(text) > bounds.bytesMax)
    refuse('too-large', bounds);
  // What costs anything is ASCII: a unit each.
  if (mayExceed(text.length, bounds)) refuse(scanJson(Buffer.from(text), bounds).fault, bounds);
  return parsed(text);
}

/** The object that these bytes are as JSON; undefined when they are not one, or over their bounds. */
export function readJsonObject(
  bytes: Buffer,
  bounds: JsonBounds,
): Record<string, unknown> | undefined {
  try {
    const value = readJson(bytes, bounds, { isLossy: true });
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/** Whether so many bytes can be over a bound at all: most documents are too short to be. */
function mayExceed(length: number, { depthMax, workMax }: JsonBounds): boolean {
  return length > bytesPerLevel * depthMax || workPerByteMax * length > workMax;
}

/** A byte order mark is nothing to those who read leniently: the clients of vendors do. */
function withoutMark(bytes: Buffer): Buffer {
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return isMarked ? bytes.subarray(3) : bytes;
}

function refuse(fault: JsonFault | undefined, bounds: JsonBounds): void {
  if (fault === undefined) return;
  if (fault === 'too-large') throw new JsonError(fault, `larger than ${bounds.bytesMax} bytes`);
  if (fault === 'too-deep')
    throw new JsonError(fault, `nested deeper than ${bounds.depthMax} levels`);
  throw new JsonError(
    fault,
    `made of too many values: with objects and lists counted 4, texts 3 and names of members 11, they must not exceed ${bounds.workMax}`,
  );
}

function decoded(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw new JsonError('malformed', 'not valid UTF-8', error);
  }
}

function parsed(text: string): unknown {
  try {
    return parseText(text);
  } catch (error) {
    const what = error instanceof SyntaxError ? `: ${error.message.slice(0, 120)}` : '';
    throw new JsonError('malformed', `not valid JSON${what}`, error);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
