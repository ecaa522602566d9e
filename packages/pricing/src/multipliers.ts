import { requestUnit, tokenKeys, tokenUnits, unitKeys } from './price-keys.ts';
import type { TokenKind } from './token-prices.ts';
import type { CountedUnit } from './unit-counts.ts';

/**
 * What the prices of one credential are multiplied by, after every look-up: the
 * factor of the very price, else that of all, else 1.
 */
export class Multipliers {
  readonly #factors: Readonly<Record<string, number>>;
  readonly #all: number;

  /** By names of the open format, units as `additional_units.<name>`. What is no factor counts for nothing. */
  constructor(factors: Readonly<Record<string, number>>) {
    this.#factors = factors;
    this.#all = isFactor(factors.default) ? factors.default : 1;
  }

  token(kind: TokenKind): number {
    return this.ownOf(kind) ?? this.#all;
  }

  /** Undefined = it has none of its own. */
  ownOf(kind: TokenKind): number | undefined {
    const unit = tokenUnits[kind];
    return this.#own([...tokenKeys[kind], ...(unit === undefined ? [] : [`${unitPrefix}${unit}`])]);
  }

  counted(unit: CountedUnit): number {
    return this.#first(unitKeys[unit].map((name) => `${unitPrefix}${name}`));
  }

  unit(name: string = requestUnit): number {
    return this.#first([`${unitPrefix}${name}`]);
  }

  get image(): number {
    return this.#first(['image.default']);
  }

  #first(names: readonly string[]): number {
    return this.#own(names) ?? this.#all;
  }

  #own(names: readonly string[]): number | undefined {
    for (const name of names) {
      const factor = Object.hasOwn(this.#factors, name) ? this.#factors[name] : undefined;
      if (isFactor(factor)) return factor;
    }
    return undefined;
  }
}

const unitPrefix = 'additional_units.';

function isFactor(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value) && value >= 0;
}
