/**
 * Sketches of vectors: 256 signs, by which those that may be near are found
 * without multiplying. A vector is turned about at random, the same for all;
 * of two whose cosine is 0.95, a tenth of the signs differ, of two that have
 * nothing to do with each other half of them.
 */
export const sketchWords = 8;
const sketchBits = sketchWords * 32;

export class Sketcher {
  readonly #turned: Float32Array;
  /** Two rounds of signs, so that no vector is so simple that it stays what it was. */
  readonly #signs: readonly [Float32Array, Float32Array];
  readonly #picked: Uint32Array;

  constructor(dimensions: number) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(dimensions, sketchBits)));
    const random = numbersFrom(0x51ce);
    const signs = () => Float32Array.from({ length: size }, () => (random() < 0.5 ? -1 : 1));
    this.#turned = new Float32Array(size);
    this.#signs = [signs(), signs()];
    this.#picked = Uint32Array.from({ length: sketchBits }, (_, at) =>
      Math.floor(((at + random()) * size) / sketchBits),
    );
  }

  /** Writes the sketch of a vector to its place. */
  write(vector: Float32Array, into: Int32Array, at: number): void {
    const turned = this.#turned;
    turned.fill(0);
    turned.set(vector);
    for (const signs of this.#signs) {
      for (let index = 0; index < turned.length; index++)
        turned[index] = (turned[index] ?? 0) * (signs[index] ?? 0);
      transform(turned);
    }
    for (let word = 0; word < sketchWords; word++) {
      let bits = 0;
      for (let bit = 0; bit < 32; bit++)
        if ((turned[this.#picked[word * 32 + bit] ?? 0] ?? 0) > 0) bits |= 1 << bit;
      into[at + word] = bits;
    }
  }
}

/** Walsh and Hadamard's, in place: each number becomes a sum of all, with signs. */
function transform(values: Float32Array): void {
  for (let half = 1; half < values.length; half *= 2)
    for (let block = 0; block < values.length; block += 2 * half)
      for (let at = block; at < block + half; at++) {
        const one = values[at] ?? 0;
        const other = values[at + half] ?? 0;
        values[at] = one + other;
        values[at + half] = one - other;
      }
}

/**
 * Of many sketches those that may be of vectors as near as `atLeast`: their
 * places, at most `countMax`, the least different. Most are left after a half.
 */
export function placesNear(
  sketch: Int32Array,
  sketches: Int32Array,
  { count, atLeast, countMax }: { count: number; atLeast: number; countMax: number },
): number[] {
  const [one = 0, two = 0, three = 0, four = 0, five = 0, six = 0, seven = 0, eight = 0] = sketch;
  const limit = likelyDifferences(sketchBits, atLeast);
  const halfLimit = likelyDifferences(sketchBits / 2, atLeast);
  const found = roomFor(count);
  let size = 0;
  for (let place = 0, at = 0; place < count; place++, at += sketchWords) {
    let differences =
      bitsInTwo(one ^ (sketches[at] ?? 0), two ^ (sketches[at + 1] ?? 0)) +
      bitsInTwo(three ^ (sketches[at + 2] ?? 0), four ^ (sketches[at + 3] ?? 0));
    if (differences > halfLimit) continue;
    differences +=
      bitsInTwo(five ^ (sketches[at + 4] ?? 0), six ^ (sketches[at + 5] ?? 0)) +
      bitsInTwo(seven ^ (sketches[at + 6] ?? 0), eight ^ (sketches[at + 7] ?? 0));
    if (differences > limit) continue;
    found.places[size] = place;
    found.differences[size] = differences;
    size++;
  }
  return leastDifferent(found, size, countMax);
}

/** So many of `bits` signs differ at this cosine, and six standard deviations more: one in a thousand million has more. */
function likelyDifferences(bits: number, cosine: number): number {
  const share = Math.acos(Math.min(1, cosine)) / Math.PI;
  return bits * share + 6 * Math.sqrt(bits * share * (1 - share)) + 1;
}

interface Found {
  places: Uint32Array;
  differences: Uint16Array;
}

/** One for all: nothing is kept in it from one question to the next. */
let room: Found = { places: new Uint32Array(0), differences: new Uint16Array(0) };

function roomFor(count: number): Found {
  if (room.places.length < count)
    room = { places: new Uint32Array(2 * count), differences: new Uint16Array(2 * count) };
  return room;
}

function leastDifferent({ places, differences }: Found, size: number, countMax: number): number[] {
  if (size <= countMax) return [...places.subarray(0, size)];
  const tally = new Uint32Array(sketchBits + 1);
  for (const told of differences.subarray(0, size)) tally[told] = (tally[told] ?? 0) + 1;
  let limit = 0;
  for (let seen = tally[0] ?? 0; seen < countMax; seen += tally[limit] ?? 0) limit++;
  const chosen: number[] = [];
  for (let at = 0; at < size; at++)
    if ((differences[at] ?? 0) < limit) chosen.push(places[at] ?? 0);
  for (let at = 0; at < size && chosen.length < countMax; at++)
    if (differences[at] === limit) chosen.push(places[at] ?? 0);
  return chosen;
}

/** In two words together: sums of pairs, of fours, of bytes. */
function bitsInTwo(one: number, other: number): number {
  const pairs = one - ((one >>> 1) & 0x5555_5555);
  const others = other - ((other >>> 1) & 0x5555_5555);
  const fours =
    (pairs & 0x3333_3333) +
    ((pairs >>> 2) & 0x3333_3333) +
    (others & 0x3333_3333) +
    ((others >>> 2) & 0x3333_3333);
  const bytes = (fours & 0x0f0f_0f0f) + ((fours >>> 4) & 0x0f0f_0f0f);
  return Math.imul(bytes, 0x0101_0101) >>> 24;
}

/** The same in every process (mulberry32). */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
