import { quote, skipSpace, stringEnd, valueEnd } from '@sluice/json';

const opening = 0x7b;
const colon = 0x3a;
const comma = 0x2c;

/** With its quotes, no event's name is longer. */
const typeLengthMax = 120;

/**
 * The `type` of an event without parsing the rest of it: most frames carry sound,
 * and end with it. Undefined where there is none, also of what is no JSON object.
 */
export function typeOfFrame(bytes: Buffer): string | undefined {
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== opening) return undefined;
  at = skipSpace(bytes, at + 1);
  while (bytes[at] === quote) {
    const keyEnd = stringEnd(bytes, at);
    const isType = keyEnd - at === 6 && bytes.toString('latin1', at + 1, keyEnd - 1) === 'type';
    at = skipSpace(bytes, keyEnd);
    if (bytes[at] !== colon) return undefined;
    at = skipSpace(bytes, at + 1);
    if (isType) return textAt(bytes, at);
    at = skipSpace(bytes, valueEnd(bytes, at));
    if (bytes[at] !== comma) return undefined;
    at = skipSpace(bytes, at + 1);
  }
  return undefined;
}

function textAt(bytes: Buffer, at: number): string | undefined {
  if (bytes[at] !== quote) return undefined;
  const end = stringEnd(bytes, at);
  const isOne = end <= bytes.length && bytes[end - 1] === quote && end - at <= typeLengthMax;
  return isOne ? bytes.toString('latin1', at + 1, end - 1) : undefined;
}
