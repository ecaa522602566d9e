import { mixHashes } from '../hash.ts';

/**
 * Weights made ready for choosing: sums up to each index, so that a choice
 * among a thousand costs a binary search. `out` always means indexes to leave
 * out: ascending, of positive weight, and never all there are.
 */
export class Weights {
  readonly shares: readonly number[];
  readonly zeroes: ReadonlySet<number>;
  readonly #values: readonly number[];
  readonly #sums: readonly number[];
  readonly #total: number;

  constructor(values: readonly number[]) {
    this.#values = values;
    let total = 0;
    this.#sums = values.map((value) => (total += value));
    this.#total = total;
    this.shares = values.map((value) => value / total);
    this.zeroes = new Set(values.flatMap((value, index) => (value === 0 ? [index] : [])));
  }

  weightOf(index: number): number {
    return this.#values[index] ?? 0;
  }

  /** What of `open` there is to leave out; undefined = nothing would be left. */
  without(open: readonly number[]): readonly number[] | undefined {
    if (open.length === 0) return open;
    const out = open.filter((index) => this.weightOf(index) > 0);
    return out.length === this.#values.length - this.zeroes.size ? undefined : out;
  }

  /** `random` in [0, 1): each index as often as its weight says. */
  pick(random: number, out: readonly number[]): number {
    let left = this.#total;
    for (const index of out) left -= this.weightOf(index);
    let point = random * left;
    // What is left out is stepped over, from the first to the last.
    for (const index of out) {
      if (point < this.#sumBefore(index)) break;
      point += this.weightOf(index);
    }
    return this.#nearestIn(this.#indexAt(point), out);
  }

  /**
   * The winner of a weighted rendezvous: everybody who knows key and seeds finds
   * the same one, and leaving one out moves only those who had it.
   */
  rendezvous(keyHash: number, seeds: readonly number[], out: readonly number[]): number {
    let best = -1;
    let bestScore = Number.NEGATIVE_INFINITY;
    let nextOut = 0;
    for (let index = 0; index < this.#values.length; index++) {
      if (out[nextOut] === index) {
        nextOut++;
        continue;
      }
      const weight = this.weightOf(index);
      if (weight === 0) continue;
      const uniform = (mixHashes(keyHash, seeds[index] ?? 0) + 0.5) / 2 ** 32;
      const score = Math.log(uniform) / weight;
      if (score > bestScore) {
        best = index;
        bestScore = score;
      }
    }
    return best;
  }

  /** Who wins, and who would next without those before: all that can be chosen. */
  ranking(keyHash: number, seeds: readonly number[]): readonly number[] {
    const order: number[] = [];
    const rest = this.#values.length - this.zeroes.size;
    while (order.length < rest)
      order.push(
        this.rendezvous(
          keyHash,
          seeds,
          order.toSorted((a, b) => a - b),
        ),
      );
    return order;
  }

  #sumBefore(index: number): number {
    return index === 0 ? 0 : (this.#sums[index - 1] ?? 0);
  }

  /** The first index whose sum exceeds the point. */
  #indexAt(point: number): number {
    let low = 0;
    let high = this.#sums.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#sums[middle] ?? 0) > point) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Rounding of sums can miss by one; the nearest index in rotation is meant. */
  #nearestIn(index: number, out: readonly number[]): number {
    const isIn = (at: number) => this.weightOf(at) > 0 && !out.includes(at);
    for (let distance = 0; distance < this.#values.length; distance++) {
      if (isIn(index + distance)) return index + distance;
      if (isIn(index - distance)) return index - distance;
    }
    return index;
  }
}
