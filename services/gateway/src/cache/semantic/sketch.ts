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
  write(vector: Float32Array, into: Uint32Array, at: number): void {
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

/** How many signs differ between one sketch and each of the first `count` of many. */
export function countDifferences(
  sketch: Uint32Array,
  sketches: Uint32Array,
  count: number,
  into: Uint16Array,
): void {
  for (let entry = 0, at = 0; entry < count; entry++) {
    let differences = 0;
    for (let word = 0; word < sketchWords; word++, at++)
      differences += bitsIn((sketch[word] ?? 0) ^ (sketches[at] ?? 0));
    into[entry] = differences;
  }
}

/** Of what `countDifferences` told, the places of about the `wanted` least. */
export function leastDifferent(differences: Uint16Array, count: number, wanted: number): number[] {
  const tally = new Uint32Array(sketchBits + 1);
  for (let at = 0; at < count; at++) {
    const told = differences[at] ?? 0;
    tally[told] = (tally[told] ?? 0) + 1;
  }
  let limit = 0;
  for (let seen = tally[0] ?? 0; seen < wanted && limit < sketchBits; seen += tally[limit] ?? 0)
    limit++;
  const places: number[] = [];
  for (let at = 0; at < count && places.length < wanted; at++)
    if ((differences[at] ?? 0) < limit) places.push(at);
  for (let at = 0; at < count && places.length < wanted; at++)
    if (differences[at] === limit) places.push(at);
  return places;
}

function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555);
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
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
