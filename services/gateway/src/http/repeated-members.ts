import { quote, repeatedPath, stringEnd } from '@sluice/json';

/**
 * The first name that stands in one object twice, at any depth, escapes
 * decoded; undefined when there is none. `bytes` must be valid JSON.
 */
export function repeatedMember(bytes: Buffer): string | undefined {
  return repeatedPath(bytes)?.at(-1) as string | undefined;
}

/**
 * Whether readers of a document differ about what it says: a member stands
 * twice, or a whole number has more digits than many keep. `bytes` must be
 * valid JSON.
 */
export function isReadDifferently(bytes: Buffer): boolean {
  return hasLongInteger(bytes) || repeatedMember(bytes) !== undefined;
}

function hasLongInteger(bytes: Buffer): boolean {
  let digits = 0;
  let isFraction = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === quote) at = stringEnd(bytes, at) - 1;
    else if (byte >= zero && byte <= nine) {
      if (++digits === longDigits && !isFraction) return true;
    } else {
      // Of fractions all readers keep what a double has.
      isFraction = byte === point;
      digits = 0;
    }
  }
  return false;
}

/** Of 2^53, up to which a double has each whole number. */
const longDigits = 16;
const zero = 0x30;
const nine = 0x39;
const point = 0x2e;
