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
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at + 1;
}
