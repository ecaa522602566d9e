import type { JsonScan } from './scan-json.ts';

const backslash = 0x5c;

/**
 * The top-level members whose name a reader could take for `name`: as they are
 * spelled, escapes resolved, in their order, each as often as it stands there.
 * Readers differ in which of two members of one name counts, and some (Go's)
 * match names in any case: only a document where this is `[name]` or `[]` says
 * the same to all of them. `name` is in lower-case ASCII.
 */
export function spellingsOf(bytes: Buffer, { topLevelNames }: JsonScan, name: string): string[] {
  const found: string[] = [];
  for (let index = 0; index < topLevelNames.length; index += 2) {
    const start = (topLevelNames[index] as number) + 1;
    const end = (topLevelNames[index + 1] as number) - 1;
    if (end - start < name.length || end - start > longestSpelling(name)) continue;
    if (isPlain(bytes, start, end)) {
      if (end - start === name.length && isSameInAnyCase(bytes, start, name))
        found.push(bytes.toString('latin1', start, end));
      continue;
    }
    const spelled = unescaped(bytes.toString('utf8', start - 1, end + 1));
    if (spelled !== undefined && folded(spelled) === folded(name)) found.push(spelled);
  }
  return found;
}

/** Six bytes an escaped character. */
function longestSpelling(name: string): number {
  return 6 * name.length;
}

function isPlain(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === backslash || byte > 0x7f) return false;
  }
  return true;
}

function isSameInAnyCase(bytes: Buffer, start: number, name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const byte = bytes[start + at] as number;
    const lower = byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte;
    if (lower !== name.charCodeAt(at)) return false;
  }
  return true;
}

function unescaped(text: string): string | undefined {
  try {
    return String(JSON.parse(text));
  } catch {
    // Not a JSON text: the parser refuses the document.
    return undefined;
  }
}

/** Also of the long s and the Kelvin sign, which only one of the two directions knows. */
function folded(text: string): string {
  return text.toLowerCase().toUpperCase();
}
