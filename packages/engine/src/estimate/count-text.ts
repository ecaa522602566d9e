/**
 * Tokens of a text, as today's byte-pair vocabularies cut it: by runs of one
 * class of characters. Measured against `o200k_base`: a tenth to a third more
 * than there are in prose, code, JSON and the larger scripts, seldom fewer.
 * Other vocabularies need up to twice as many outside Latin script: what a
 * model's own replies say corrects that (`TokenRatios` of the gateway).
 */
export interface TextCount {
  tokens: number;
  /** In UTF-8, without what JSON puts around and into it. */
  bytes: number;
}

/** So much of a text is read; of a longer one pieces that lie evenly in it. */
const readMax = 1024;
const pieces = 8;

/** Adds a text to what was counted. Reads at most 1,024 characters of it. */
export function countText(text: string, into: TextCount): void {
  const { length } = text;
  if (length <= readMax) {
    countRange(text, 0, length, into);
    return;
  }
  const read: TextCount = { tokens: 0, bytes: 0 };
  const size = readMax / pieces;
  for (let piece = 0; piece < pieces; piece++) {
    const from = Math.floor(((length - size) * piece) / (pieces - 1));
    countRange(text, from, from + size, read);
  }
  into.tokens += (read.tokens / readMax) * length;
  into.bytes += (read.bytes / readMax) * length;
}

const wide = 0;
const lower = 1;
const accented = 2;
const upper = 3;
const digit = 4;
const space = 5;
const line = 6;
const mark = 7;

/** By code unit. */
const classes = new Uint8Array(0x10000).fill(wide);
classes.fill(mark, 0, 0x80);
classes.fill(lower, 97, 123);
classes.fill(upper, 65, 91);
classes.fill(digit, 48, 58);
classes.fill(line, 9, 14);
classes[32] = space;
classes.fill(accented, 0xc0, 0x250);

/** Of a code unit outside ASCII: tokens it is worth, in a word or alone. */
const weights = new Float32Array(0x10000).fill(1.3);
for (const [from, to, weight] of [
  [0x80, 0xc0, 1.2],
  [0xc0, 0x100, 0.2], // of Western Europe
  [0x100, 0x250, 1.2], // of Central Europe, Turkish, Vietnamese
  [0x250, 0x370, 1.2],
  [0x370, 0x400, 0.5], // Greek
  [0x400, 0x530, 0.34], // Cyrillic
  [0x590, 0x600, 0.52], // Hebrew
  [0x600, 0x750, 0.48], // Arabic
  [0x900, 0xe00, 0.55], // scripts of India
  [0xe00, 0xe80, 0.55], // Thai
  [0x3000, 0x3040, 0.95], // punctuation of East Asia
  [0x3040, 0x3100, 0.8], // kana
  [0x3400, 0xa000, 0.86], // ideographs
  [0xac00, 0xd7b0, 0.8], // Hangul
  [0xd800, 0xe000, 1.2], // half of a pair: emoji, rare ideographs
  [0xff00, 0x10000, 0.95],
] as const)
  weights.fill(weight, from, to);

/** What was read of the run that a character may go on with. */
const states = [
  'nothing',
  ...['letters 1', 'letters 2', 'letters 3', 'letters 4', 'letters 5', 'letters 6', 'word'],
  ...['capital', 'capitals', 'digits 1', 'digits 2', 'digits 3'],
  ...['space', 'spaces', 'lines', 'mark', 'marks'],
] as const;
type State = (typeof states)[number];

/** What one more character costs, and what was read then. */
type Move = readonly [tokens: number, then: State];

function moveOf(state: State, kind: number): Move {
  switch (kind) {
    case wide:
      // By its own weight.
      return [0, 'nothing'];
    case lower:
    case accented:
      return letterAfter(state);
    case upper:
      return state === 'capital' || state === 'capitals' ? [0.48, 'capitals'] : [0.88, 'capital'];
    case digit:
      // Three are a token.
      if (state === 'digits 1') return [0, 'digits 2'];
      return state === 'digits 2' ? [0, 'digits 3'] : [1.05, 'digits 1'];
    case space:
      // A single one goes with what follows it.
      if (state === 'spaces') return [1 / 64, 'spaces'];
      return state === 'space' ? [1, 'spaces'] : [0, 'space'];
    case line:
      return [state === 'lines' ? 0 : 1, 'lines'];
    default:
      return state === 'mark' || state === 'marks' ? [0.45, 'marks'] : [1, 'mark'];
  }
}

function letterAfter(state: State): Move {
  // Of capitals before small letters the last one begins their word.
  if (state === 'capital') return [1.05 - 0.88, 'letters 2'];
  if (state === 'capitals') return [1.05 - 0.48, 'letters 2'];
  if (state === 'word' || state === 'letters 6') return [0.36, 'word'];
  const read = Number(/^letters (\d)$/.exec(state)?.[1] ?? 0);
  return [read === 0 ? 1.05 : 0, `letters ${read + 1}` as State];
}

const kinds = 8;
/** Costs are kept as integers of so many to a token. */
const unitsOfToken = 4096;

/** By state and class: the cost, and in the last byte where the row of the next state begins. */
const moves = Int32Array.from({ length: states.length * kinds }, (_, at) => {
  const [tokens, then] = moveOf(states[Math.floor(at / kinds)] ?? 'nothing', at % kinds);
  return (Math.round(tokens * unitsOfToken) << 8) | (states.indexOf(then) * kinds);
});

/** The text that is read, a number for each character: to look into it costs less than to ask a string. */
const units = new Uint16Array(readMax);
const unitBytes = Buffer.from(units.buffer);

/** Where the rows of two states begin. */
const nothing = 0;
const afterSpace = states.indexOf('space') * kinds;
const spaceUnit = 32;
/** Halves of less are not worth the looking for a middle. */
const halfMin = 16;

/**
 * One look into a table for each character: where words end is not foreseen by
 * any processor. Each look waits for the one before; so two halves of a text are
 * read side by side, which comes to the same.
 */
function countRange(text: string, from: number, to: number, into: TextCount): void {
  const length = to - from;
  unitBytes.write(length === text.length ? text : text.slice(from, to), 'utf16le');
  const middle = middleOf(length);
  const beside = Math.min(middle, length - middle);
  let cost = 0;
  let state = nothing;
  let other = units[middle - 1] === spaceUnit ? afterSpace : nothing;
  for (let at = 0; at < beside; at++) {
    const unit = units[at] ?? 0;
    const otherUnit = units[middle + at] ?? 0;
    const move = moves[state | (classes[unit] ?? 0)] ?? 0;
    const otherMove = moves[other | (classes[otherUnit] ?? 0)] ?? 0;
    cost += (move >> 8) + (otherMove >> 8);
    state = move & 0xff;
    other = otherMove & 0xff;
    if (unit >= 0x80) addBeyondAscii(unit, into);
    if (otherUnit >= 0x80) addBeyondAscii(otherUnit, into);
  }
  // What is left is of the longer half.
  const isFirstLonger = middle > beside;
  if (!isFirstLonger) state = other;
  const end = isFirstLonger ? middle : length;
  for (let at = isFirstLonger ? beside : middle + beside; at < end; at++) {
    const unit = units[at] ?? 0;
    const move = moves[state | (classes[unit] ?? 0)] ?? 0;
    cost += move >> 8;
    state = move & 0xff;
    if (unit >= 0x80) addBeyondAscii(unit, into);
  }
  into.tokens += cost / unitsOfToken;
  into.bytes += length;
}

/** Behind it, it is known what was read, whatever stood before: a first space, or a character that counts by itself. */
function middleOf(length: number): number {
  for (let at = Math.max(halfMin, length >> 1); at < length - halfMin; at++) {
    const unit = units[at] ?? 0;
    if (unit === spaceUnit ? units[at - 1] !== spaceUnit : classes[unit] === wide) return at + 1;
  }
  return length;
}

/** What such a character takes more than one of ASCII. */
function addBeyondAscii(unit: number, into: TextCount): void {
  into.tokens += weights[unit] ?? 0;
  into.bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
}
