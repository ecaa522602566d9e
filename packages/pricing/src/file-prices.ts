import type { ListedModel } from './listed-model.ts';

/** What an operator's files say from one instant on, by provider. */
export interface FilePriceVersion {
  readonly effectiveAtMs: number;
  readonly providers: ReadonlyMap<string, ProviderPrices>;
}

export interface ProviderPrices {
  /** Names the state of the file. */
  readonly version: string;
  readonly models: ReadonlyMap<string, ListedModel>;
}

/** The operator's prices, in versions that take effect one after the other. */
export class FilePrices {
  readonly #versions: readonly FilePriceVersion[];

  constructor(versions: readonly FilePriceVersion[] = []) {
    this.#versions = [...versions].sort((a, b) => b.effectiveAtMs - a.effectiveAtMs);
  }

  /** The newest state of a provider's file that is in force at `atMs`. */
  at(provider: string, atMs: number): ProviderPrices | undefined {
    for (const { effectiveAtMs, providers } of this.#versions) {
      if (effectiveAtMs > atMs) continue;
      const prices = providers.get(provider);
      if (prices !== undefined) return prices;
    }
    return undefined;
  }
}
