/**
 * The first name that stands in one object twice, at any depth, escapes
 * decoded; undefined when there is none. Of two members with one name some
 * readers take the first and some the last. `bytes` must be valid JSON; time is
 * linear in their length.
 */
export function repeatedMember(bytes: Buffer): string | undefined {
  const names: (Set<string> | undefined)[] = [];
  const isObject: boolean[] = [];
  let expectsName = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    const depth = isObject.length;
    if (byte === quote) {
      const end = stringEnd(bytes, at);
      if (expectsName) {
        const name = nameAt(bytes, at, end);
        const seen = names[depth];
        if (seen?.has(name) === true) return name;
        if (seen === undefined) names[depth] = new Set([name]);
        else seen.add(name);
      }
      expectsName = false;
      at = end - 1;
    } else if (byte === braceOpen || byte === bracketOpen) {
      isObject.push(byte === braceOpen);
      names[depth + 1] = undefined;
      expectsName = byte === braceOpen;
    } else if (byte === braceClose || byte === bracketClose) {
      isObject.pop();
      expectsName = false;
    } else if (byte === comma) expectsName = isObject[depth - 1] === true;
  }
  return undefined;
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

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const braceOpen = 0x7b;
const braceClose = 0x7d;
const bracketOpen = 0x5b;
const bracketClose = 0x5d;

function nameAt(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start, end);
  return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
}

/** The position after the closing quote of the string that starts at `start`. */
function stringEnd(bytes: Buffer, start: number): number {
  const first = bytes.indexOf(quote, start + 1);
  if (first === -1) return bytes.length + 1;
  let before = first;
  while (bytes[before - 1] === backslash) before--;
  if ((first - before) % 2 === 0) return first + 1;
  // Where there is one escape there may be millions.
  let at = first + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at + 1;
}
