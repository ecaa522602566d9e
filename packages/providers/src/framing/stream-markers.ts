/**
 * Finds, in the bytes of whole SSE events, the few things that a native stream
 * must be read for: `"usage":{`, `"finish_reason":"`, `"error":{`,
 * `"type":"message_…"`, `"type":"error"`, the ends of a response
 * (`"type":"response.completed"`, `.incomplete`, `.failed`) and a closing `[DONE]`. One pass over
 * every second byte and nothing allocated: this runs for every event of every
 * stream, where a JSON.parse each would cost more than all the rest.
 *
 * A key in the text of an answer cannot be taken for one, since its quotes are
 * escaped. Keys are expected to touch their colon, as every JSON writer in use
 * makes them. A marker found too often costs a parse, never a wrong answer.
 */

const QUOTE = 0x22;
const COLON = 0x3a;
const SPACE = 0x20;
const BRACE = 0x7b;
const CLOSING_BRACKET = 0x5d;

const USAGE = Buffer.from('"usage');
const FINISH = Buffer.from('"finish_reason');
const ERROR = Buffer.from('"error');
const TYPE = Buffer.from('"type');
const MESSAGE = Buffer.from('"message_');
const ERROR_VALUE = Buffer.from('"error"');
const RESPONSE = Buffer.from('"response.');
const RESPONSE_ENDS = ['completed"', 'incomplete"', 'failed"'].map((end) => Buffer.from(end));
const DONE = Buffer.from('[DONE]');

/** Where the next marked key's colon is, at or after `from`; -1 when there is none. */
export function findMarker(bytes: Buffer, from: number): number {
  const length = bytes.length;
  // A key ends in two bytes, `":`, so looking at every second byte meets one of them.
  for (let index = from; index < length; index += 2) {
    const byte = bytes[index];
    if (byte === COLON) {
      if (bytes[index - 1] === QUOTE && isMarker(bytes, index)) return index;
    } else if (byte === QUOTE && bytes[index + 1] === COLON && isMarker(bytes, index + 1)) {
      return index + 1;
    }
  }
  return -1;
}

/** Where a closing `[DONE]` begins, which nothing may follow but line ends; -1 when there is none. */
export function findDone(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 0 && (bytes[end - 1] as number) <= SPACE) end--;
  if (bytes[end - 1] !== CLOSING_BRACKET || !endsWith(bytes, DONE, end)) return -1;
  return end - DONE.length;
}

function isMarker(bytes: Buffer, colon: number): boolean {
  const quote = colon - 1;
  let start = colon + 1;
  while (bytes[start] === SPACE) start++;
  const value = bytes[start];
  switch (bytes[quote - 1]) {
    case 0x65: // …e: "usage", "type"
      if (value === BRACE) return endsWith(bytes, USAGE, quote);
      if (value !== QUOTE || bytes[quote - 2] !== 0x70) return false;
      return (
        endsWith(bytes, TYPE, quote) &&
        (startsWith(bytes, MESSAGE, start) ||
          startsWith(bytes, ERROR_VALUE, start) ||
          isResponseEnd(bytes, start))
      );
    case 0x6e: // …n: "finish_reason"
      return value === QUOTE && endsWith(bytes, FINISH, quote);
    case 0x72: // …r: "error"
      return (value === BRACE || value === QUOTE) && endsWith(bytes, ERROR, quote);
    default:
      return false;
  }
}

function isResponseEnd(bytes: Buffer, start: number): boolean {
  if (!startsWith(bytes, RESPONSE, start)) return false;
  return RESPONSE_ENDS.some((end) => startsWith(bytes, end, start + RESPONSE.length));
}

function endsWith(bytes: Buffer, key: Buffer, end: number): boolean {
  return end >= key.length && startsWith(bytes, key, end - key.length);
}

function startsWith(bytes: Buffer, value: Buffer, start: number): boolean {
  for (let index = 0; index < value.length; index++) {
    if (bytes[start + index] !== value[index]) return false;
  }
  return true;
}
