/**
 * JSON whose names are sorted at every level, in UTF-16 units, without spaces: one text for all documents that say
 * the same to `JSON.parse`. Depth is bounded where documents are parsed.
 * @param cut a text that leaves a gap wherever it stands as a whole
 */
export function canonicalJson(value: unknown, cut?: string): string {
  let text = '';
  writeCanonicalJson(value, (piece) => (text += piece), cut);
  return text;
}

/** Its pieces, for those who need no whole text: what is long is never written at once. Each piece is text without half a character. */
export function writeCanonicalJson(
  value: unknown,
  write: (piece: string) => void,
  cut?: string,
): void {
  if (typeof value !== 'object' || value === null) {
    // No JSON value looks like it.
    if (cut !== undefined && value === cut) write('?');
    else if (typeof value === 'string' && value.length > longText) writeLongText(value, write);
    else write(JSON.stringify(value));
  } else if (Array.isArray(value)) writeArray(value, write, cut);
  else writeObject(value as Readonly<Record<string, unknown>>, write, cut);
}

function writeArray(
  items: readonly unknown[],
  write: (piece: string) => void,
  cut: string | undefined,
): void {
  write('[');
  for (const [at, item] of items.entries()) {
    if (at > 0) write(',');
    writeCanonicalJson(item, write, cut);
  }
  write(']');
}

function writeObject(
  object: Readonly<Record<string, unknown>>,
  write: (piece: string) => void,
  cut: string | undefined,
): void {
  let before = '{';
  for (const key of Object.keys(object).sort()) {
    const member = object[key];
    if (member === undefined) continue;
    write(`${before}${JSON.stringify(key)}:`);
    writeCanonicalJson(member, write, cut);
    before = ',';
  }
  write(before === '{' ? '{}' : '}');
}

/** UTF-16 units from which on a text is written in pieces: copies of some MB take new pages of memory, which cost more than the hash. */
const longText = 16 * 1024;

function writeLongText(text: string, write: (piece: string) => void): void {
  write('"');
  for (let from = 0; from < text.length; ) {
    let end = from + longText;
    // The halves of a pair stay together: by itself each would be written as an escape.
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    write(JSON.stringify(text.slice(from, end)).slice(1, -1));
    from = end;
  }
  write('"');
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
