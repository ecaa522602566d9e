import type { JsonBounds } from './bounds.ts';
import { JsonError, type JsonFault } from './json-error.ts';
import { type JsonScan, scanJson } from './scan-json.ts';

/** The dearest bytes are `{"":` and `}`: five of them for 15 units of work. */
const workPerByteMax = 3;
/** Each level takes two bytes. */
const bytesPerLevel = 2;

/**
 * The value that these bytes are as JSON, looked at before it is parsed.
 * Whoever has scanned them hands in the scan.
 * @throws JsonError
 */
export function readJson(bytes: Buffer, bounds: JsonBounds, scan?: JsonScan): unknown {
  if (scan !== undefined || mayExceed(bytes.length, bounds))
    refuse((scan ?? scanJson(bytes, bounds)).fault, bounds);
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (error) {
    throw new JsonError('malformed', 'not valid UTF-8', error);
  }
  return parsed(text);
}

/**
 * The same of text.
 * @throws JsonError
 */
export function readJsonText(text: string, bounds: JsonBounds): unknown {
  // A UTF-16 unit is three bytes at most; only long texts are worth the second look.
  if (text.length > bounds.bytesMax) refuse('too-large', bounds);
  if (mayExceed(3 * text.length, bounds)) {
    const bytes = Buffer.from(text);
    if (mayExceed(bytes.length, bounds)) refuse(scanJson(bytes, bounds).fault, bounds);
  }
  return parsed(text);
}

/** The object that these bytes are as JSON; undefined when they are not one, or over their bounds. */
export function readJsonObject(
  bytes: Buffer,
  bounds: JsonBounds,
): Record<string, unknown> | undefined {
  try {
    const value = readJson(bytes, bounds);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/** Whether so many bytes can be over a bound at all: most documents are too short to be. */
function mayExceed(length: number, { bytesMax, depthMax, workMax }: JsonBounds): boolean {
  return (
    length > bytesPerLevel * depthMax || workPerByteMax * length > workMax || length > bytesMax
  );
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const what = error instanceof SyntaxError ? `: ${error.message.slice(0, 120)}` : '';
    throw new JsonError('malformed', `not valid JSON${what}`, error);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
