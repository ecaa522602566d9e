import { usesShown } from '../bills/charged-tools.ts';

/**
 * Finds, in the bytes of whole SSE events, the few things that a native stream
 * must be read for: `"usage":{`, `"finish_reason":"`, `"error":{`,
 * `"type":"message_…"`, `"type":"error"`, the ends of a response
 * (`"type":"response.completed"`, `.incomplete`, `.failed`), its pictures while they are drawn,
 * `"type":"web_search_call"` and other tools that are charged by their use, and a closing `[DONE]`. One pass over
 * every second byte and nothing allocated: this runs for every event of every
 * stream, where a JSON.parse each would cost more than all the rest.
 *
 * A key in the text of an answer cannot be taken for one, since its quotes are
 * escaped. Keys are expected to touch their colon, as every JSON writer in use
 * makes them. A marker found too often costs a parse, never a wrong answer.
 */

const quoteByte = 0x22;
const colonByte = 0x3a;
const space = 0x20;
const brace = 0x7b;
const closingBracket = 0x5d;

const usage = Buffer.from('"usage');
const finish = Buffer.from('"finish_reason');
const error = Buffer.from('"error');
const type = Buffer.from('"type');
const message = Buffer.from('"message_');
const errorValue = Buffer.from('"error"');
const response = Buffer.from('"response.');
const responseMarks = [
  'completed"',
  'incomplete"',
  'failed"',
  'image_generation_call.partial_image"',
].map((mark) => Buffer.from(mark));
const uses = usesShown.map((value) => Buffer.from(`"${value}"`));
const beginsUse = new Uint8Array(256);
for (const use of uses) beginsUse[use[1] as number] = 1;
const done = Buffer.from('[DONE]');

/** Where the next marked key's colon is, at or after `from`; -1 when there is none. */
export function findMarker(bytes: Buffer, from: number): number {
  const length = bytes.length;
  // A key ends in two bytes, `":`, so looking at every second byte meets one of them.
  for (let index = from; index < length; index += 2) {
    const byte = bytes[index];
    if (byte === colonByte) {
      if (bytes[index - 1] === quoteByte && isMarker(bytes, index)) return index;
    } else if (byte === quoteByte && bytes[index + 1] === colonByte && isMarker(bytes, index + 1)) {
      return index + 1;
    }
  }
  return -1;
}

/** Where a closing `[DONE]` begins, which nothing may follow but line ends; -1 when there is none. */
export function findDone(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 0 && (bytes[end - 1] as number) <= space) end--;
  if (bytes[end - 1] !== closingBracket || !endsWith(bytes, done, end)) return -1;
  return end - done.length;
}

function isMarker(bytes: Buffer, colon: number): boolean {
  const quote = colon - 1;
  let start = colon + 1;
  while (bytes[start] === space) start++;
  const value = bytes[start];
  switch (bytes[quote - 1]) {
    case 0x65: // …e: "usage", "type"
      if (value === brace) return endsWith(bytes, usage, quote);
      if (value !== quoteByte || bytes[quote - 2] !== 0x70) return false;
      return (
        endsWith(bytes, type, quote) &&
        (startsWith(bytes, message, start) ||
          startsWith(bytes, errorValue, start) ||
          isResponseMark(bytes, start) ||
          (beginsUse[bytes[start + 1] as number] === 1 &&
            uses.some((use) => startsWith(bytes, use, start))))
      );
    case 0x6e: // …n: "finish_reason"
      return value === quoteByte && endsWith(bytes, finish, quote);
    case 0x72: // …r: "error"
      return (value === brace || value === quoteByte) && endsWith(bytes, error, quote);
    default:
      return false;
  }
}

function isResponseMark(bytes: Buffer, start: number): boolean {
  if (!startsWith(bytes, response, start)) return false;
  return responseMarks.some((mark) => startsWith(bytes, mark, start + response.length));
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
