import { RecentMap } from '../chain/recent-map.ts';

/**
 * What models really counted, beside what was estimated of them: the ratio of
 * the input, and how long answers were. Of the last hundred or so calls of
 * each; at most 1,000 models, those that were not called for longest go.
 */
export class ObservedModels {
  readonly #models = new RecentMap<Observed>(modelsMax);

  /** What an estimate of input is multiplied by, so that one of a hundred is below. 1 = nothing is known. */
  inputRatio(model: string): number {
    return this.#models.peek(model)?.ratio ?? 1;
  }

  /** So many tokens or fewer had 99 of 100 answers; undefined = too few are known. */
  outputTokens(model: string): number | undefined {
    return this.#models.peek(model)?.outputHigh;
  }

  /** Half of the answers had more; undefined = too few are known. */
  usualOutputTokens(model: string): number | undefined {
    return this.#models.peek(model)?.outputUsual;
  }

  /** @param estimatedInput before the ratio; undefined = it tells nothing of this model's vocabulary */
  learn(model: string, estimatedInput: number | undefined, input: number, output: number): void {
    let observed = this.#models.use(model);
    if (observed === undefined) {
      observed = new Observed();
      this.#models.set(model, observed);
    }
    if (estimatedInput !== undefined && estimatedInput >= smallestRead)
      observed.addRatio(input / estimatedInput);
    observed.addOutput(output);
  }
}

const modelsMax = 1000;
/** What stands around the text outweighs it in smaller ones. */
const smallestRead = 50;
const kept = 128;
const enough = 20;
/** Sorted again after so many; once as many are kept as there is room for, after more. */
const sortedEvery = 16;
const sortedEveryFull = 64;
/** A vocabulary needs no more than three times the tokens of another; an answer that says so counts something else. */
const ratioMin = 0.5;
const ratioMax = 3;

class Observed {
  ratio: number | undefined = undefined;
  outputHigh: number | undefined = undefined;
  outputUsual: number | undefined = undefined;
  readonly #ratios = new Float32Array(kept);
  readonly #outputs = new Float64Array(kept);
  #ratioCount = 0;
  #outputCount = 0;

  addRatio(ratio: number): void {
    this.#ratios[this.#ratioCount++ % kept] = Math.min(ratioMax, Math.max(ratioMin, ratio));
    if (!isDue(this.#ratioCount)) return;
    this.ratio = quantile(this.#ratios.subarray(0, Math.min(kept, this.#ratioCount)), 0.99);
  }

  addOutput(tokens: number): void {
    this.#outputs[this.#outputCount++ % kept] = tokens;
    if (!isDue(this.#outputCount)) return;
    const known = this.#outputs.subarray(0, Math.min(kept, this.#outputCount));
    this.outputHigh = quantile(known, 0.99);
    this.outputUsual = quantile(known, 0.5);
  }
}

function isDue(count: number): boolean {
  return count >= enough && count % (count > kept ? sortedEveryFull : sortedEvery) === 0;
}

function quantile(values: Float32Array | Float64Array, share: number): number {
  const sorted = values.slice().sort();
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
