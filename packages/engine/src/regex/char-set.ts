/** UTF-16 code units, as sorted, disjoint ranges: first, last, first, last … */
export interface CharSet {
  readonly ranges: readonly number[];
  /** Everything but the ranges. Kept apart because folding of case comes before it. */
  readonly isNegated: boolean;
  readonly ignoresCase: boolean;
}

const unitMax = 0xffff;

export const digits = [0x30, 0x39];
export const wordCharacters = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
// biome-ignore format: one range a line says less
export const spaces = [
  0x09, 0x0d, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029,
  0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff,
];
export const lineEnds = [0x0a, 0x0a, 0x0d, 0x0d, 0x2028, 0x2029];

/** Sorts ranges and joins those that touch. */
export function normaliseRanges(ranges: readonly number[]): number[] {
  const pairs: [number, number][] = [];
  for (let index = 0; index < ranges.length; index += 2)
    pairs.push([ranges[index] ?? 0, ranges[index + 1] ?? 0]);
  pairs.sort((a, b) => a[0] - b[0]);
  const joined: number[] = [];
  for (const [first, last] of pairs) {
    const end = joined.at(-1);
    if (end !== undefined && first <= end + 1) joined[joined.length - 1] = Math.max(end, last);
    else joined.push(first, last);
  }
  return joined;
}

/** Of normalised ranges. */
export function complement(ranges: readonly number[]): number[] {
  const rest: number[] = [];
  let next = 0;
  for (let index = 0; index < ranges.length; index += 2) {
    const first = ranges[index] ?? 0;
    if (first > next) rest.push(next, first - 1);
    next = (ranges[index + 1] ?? 0) + 1;
  }
  if (next <= unitMax) rest.push(next, unitMax);
  return rest;
}

export function contains(set: CharSet, unit: number): boolean {
  const isIn = set.ignoresCase ? isInAnyCase(set.ranges, unit) : isInRanges(set.ranges, unit);
  return isIn !== set.isNegated;
}

export function isWordCharacter(unit: number): boolean {
  return isInRanges(wordCharacters, unit);
}

export function isLineEnd(unit: number): boolean {
  return unit === 0x0a || unit === 0x0d || unit === 0x2028 || unit === 0x2029;
}

function isInRanges(ranges: readonly number[], unit: number): boolean {
  let low = 0;
  let high = ranges.length / 2 - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (unit < (ranges[middle * 2] ?? 0)) high = middle - 1;
    else if (unit > (ranges[middle * 2 + 1] ?? 0)) low = middle + 1;
    else return true;
  }
  return false;
}

/** Letters count as the same when they have the same capital, as in JavaScript without the flag u. */
function isInAnyCase(ranges: readonly number[], unit: number): boolean {
  if (isInRanges(ranges, unit)) return true;
  for (const other of sameCapital(unit)) if (isInRanges(ranges, other)) return true;
  return false;
}

let byCapital: Map<number, number[]> | undefined;

/** The other code units with the capital of this one. The table is made when it is first asked. */
function sameCapital(unit: number): readonly number[] {
  byCapital ??= groupByCapital();
  return byCapital.get(capital(unit)) ?? noUnits;
}

const noUnits: readonly number[] = [];

function groupByCapital(): Map<number, number[]> {
  const groups = new Map<number, number[]>();
  for (let unit = 0; unit <= unitMax; unit++) {
    const key = capital(unit);
    if (key === unit) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [key, unit]);
    else group.push(unit);
  }
  return groups;
}

/** ECMAScript's `Canonicalize` without the flag u. */
function capital(unit: number): number {
  if (unit < 0x80) return unit >= 0x61 && unit <= 0x7a ? unit - 0x20 : unit;
  const upper = String.fromCharCode(unit).toUpperCase();
  if (upper.length !== 1) return unit;
  const code = upper.charCodeAt(0);
  return code < 0x80 ? unit : code;
}
