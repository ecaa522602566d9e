import { quote, skipSpace, stringEnd } from '@sluice/json';

/**
 * Replaces the values of one top-level string member in JSON text and leaves
 * every other byte alone: key order, spacing, number forms and duplicate keys
 * survive. All members of that name are replaced, so that it does not matter
 * which one the reader takes. `bytes` must be a valid JSON object.
 */
export function replaceTopLevelString(bytes: Buffer, key: string, value: string): Buffer {
  const replacement = Buffer.from(JSON.stringify(value));
  const parts: Buffer[] = [];
  let copiedTo = 0;
  for (const span of topLevelValues(bytes, key)) {
    parts.push(bytes.subarray(copiedTo, span.start), replacement);
    copiedTo = span.end;
  }
  if (parts.length === 0) return bytes;
  parts.push(bytes.subarray(copiedTo));
  return Buffer.concat(parts);
}

/** Where the values of the top-level members of that name stand. */
function* topLevelValues(bytes: Buffer, key: string): Generator<{ start: number; end: number }> {
  let depth = 0;
  let at = 0;
  let expectsKey = false;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === quote) {
      const end = stringEnd(bytes, at);
      if (depth === 1 && expectsKey) {
        expectsKey = false;
        const colon = skipSpace(bytes, end);
        const start = skipSpace(bytes, colon + 1);
        if (JSON.parse(bytes.toString('utf8', at, end)) === key && bytes[start] === quote) {
          const valueEnd = stringEnd(bytes, start);
          yield { start, end: valueEnd };
          at = valueEnd;
          continue;
        }
        at = start;
        continue;
      }
      at = end;
      continue;
    }
    if (byte === 0x7b || byte === 0x5b) {
      depth++;
      expectsKey = byte === 0x7b && depth === 1;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
    else if (byte === 0x2c && depth === 1) expectsKey = true;
    at++;
  }
}
