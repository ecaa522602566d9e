import type { JsonStep } from './json-edit.ts';
import { keyOf, quote, stringEnd } from './spans.ts';

const comma = 0x2c;
const braceOpen = 0x7b;
const braceClose = 0x7d;
const bracketOpen = 0x5b;
const bracketClose = 0x5d;

/**
 * Where the first name stands that is in one object twice, at any depth, escapes
 * decoded; undefined when there is none. Of two members with one name some
 * readers take the first and some the last. `bytes` must be valid JSON; time is
 * linear in their length.
 */
export function repeatedPath(bytes: Buffer): readonly JsonStep[] | undefined {
  const names: (Set<string> | undefined)[] = [];
  const isObject: boolean[] = [];
  /** By depth: the member, or the item, that is being read. */
  const steps: JsonStep[] = [];
  let expectsName = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    // Blanks, digits, colons: most of what is no text.
    if (byte < quote || (byte > comma && byte < bracketOpen)) continue;
    const depth = isObject.length;
    if (byte === quote) {
      const end = stringEnd(bytes, at);
      if (expectsName) {
        const name = keyOf(bytes, at, end);
        steps[depth] = name;
        const seen = names[depth];
        if (seen?.has(name) === true) return steps.slice(1, depth + 1);
        if (seen === undefined) names[depth] = new Set([name]);
        else seen.add(name);
      }
      expectsName = false;
      at = end - 1;
    } else if (byte === braceOpen || byte === bracketOpen) {
      isObject.push(byte === braceOpen);
      names[depth + 1] = undefined;
      steps[depth + 1] = 0;
      expectsName = byte === braceOpen;
    } else if (byte === braceClose || byte === bracketClose) {
      isObject.pop();
      expectsName = false;
    } else if (byte === comma) {
      expectsName = isObject[depth - 1] === true;
      if (!expectsName) steps[depth] = (steps[depth] as number) + 1;
    }
  }
  return undefined;
}
