const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;

/** Escaped quotes that stand closer together than this are passed by the pattern, others by leaps: a leap costs as much as some fifty characters. */
const leapMin = 64;
/** Texts and escapes up to a quote that ends a text. In portions, since each repetition takes some of the matcher's stack. */
const passed = /[^"\\]*(?:\\[\s\S][^"\\]*){0,1000}/y;

/**
 * What a text is as JSON. `JSON.parse` of V8 13 and 14 (Node 24 and 26; that of Node 22 is right) takes a name that is written with
 * escapes for another one where an object of that shape was parsed before: after `{"messages":[],"\\u006des":1}`, which anybody may
 * send, `{"messages":[],"\u006dessages":1}` has a member `\u006des`. It compares as many characters as the name has with what
 * stands there, escapes and all. So names that have escapes are written without them first, and those that need some stand aside
 * while the rest is parsed.
 * @throws SyntaxError
 */
export function parseText(text: string): unknown {
  const names = namesWithEscapes(text);
  return names.length === 0 ? JSON.parse(text) : parseWithout(names, text);
}

/** Begin and end of each, with its quotes, one after the other. Linear in the length of the text; of what is no JSON they mean nothing. */
function namesWithEscapes(text: string): number[] {
  const names: number[] = [];
  let at = text.indexOf('\\');
  while (at !== -1) {
    const end = textEnd(text, at);
    if (end === -1) break;
    // Before its first escape a text has no quote but the one that begins it.
    if (text.charCodeAt(skipBlanks(text, end)) === colon)
      names.push(text.lastIndexOf('"', at), end);
    at = text.indexOf('\\', end);
  }
  return names;
}

/** Behind the quote that ends the text in which this escape stands; -1 = nothing ends it. */
function textEnd(text: string, escaped: number): number {
  let at = escaped;
  for (;;) {
    const next = text.indexOf('"', at);
    if (next === -1) return -1;
    let before = next;
    while (before > at && text.charCodeAt(before - 1) === backslash) before--;
    if ((next - before) % 2 === 0) return next + 1;
    if (next - at < leapMin) break;
    at = next + 1;
  }
  for (;;) {
    passed.lastIndex = at;
    passed.test(text);
    const end = passed.lastIndex;
    if (text.charCodeAt(end) === quote) return end + 1;
    if (end === at) return -1;
    at = end;
  }
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  for (;;) {
    const unit = text.charCodeAt(at);
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return at;
    at++;
  }
}

/** Names that cannot be written without an escape: `"`, `\` and control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has them escaped.
const needsEscape = /["\\\x00-\x1f]/;

/** What no document has as the beginning of a name. */
const aside = `${crypto.randomUUID()}:`;

function parseWithout(names: readonly number[], text: string): unknown {
  // What is no JSON is refused as it came: where no text begins, an escape is taken for one of a name, and none would be left of it.
  JSON.parse(text);
  const pieces: string[] = [];
  /** What stands for a name, and the name. */
  const standing = new Map<string, string>();
  const standsFor = new Map<string, string>();
  let from = 0;
  for (let at = 0; at < names.length; at += 2) {
    const begin = names[at] as number;
    const end = names[at + 1] as number;
    // A text by itself is read as it should be.
    const name = JSON.parse(text.slice(begin, end)) as string;
    let written = name;
    if (needsEscape.test(name)) {
      written = standsFor.get(name) ?? `${aside}${standing.size}`;
      standsFor.set(name, written);
      standing.set(written, name);
    }
    pieces.push(text.slice(from, begin), '"', written, '"');
    from = end;
  }
  pieces.push(text.slice(from));
  const value: unknown = JSON.parse(pieces.join(''));
  return standing.size === 0 ? value : named(value, standing);
}

/** The same value with the names that stood aside, each in its place. What is parsed has a bound of its depth. */
function named(value: unknown, standing: ReadonlyMap<string, string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) value[at] = named(value[at], standing);
    return value;
  }
  const before = value as Record<string, unknown>;
  const names = Object.keys(before);
  if (!names.some((name) => name.startsWith(aside))) {
    for (const name of names) before[name] = named(before[name], standing);
    return before;
  }
  const after: Record<string, unknown> = {};
  for (const name of names) {
    const inner = named(before[name], standing);
    // Assigned, it would not be a member.
    if (name === '__proto__')
      Object.defineProperty(after, name, {
        value: inner,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    else after[standing.get(name) ?? name] = inner;
  }
  return after;
}
