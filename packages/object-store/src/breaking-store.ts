import { type ListOptions, type ObjectPage, type ObjectStore, StoreError } from './object-store.ts';

export interface BreakerRules {
  /** So many failures in a row, and nobody asks any more; */
  readonly failuresMax: number;
  /** for so long. */
  readonly openMs: number;
  readonly nowMs: () => number;
  /** Told once, with the reason, when it is left alone, and once when it answers again. */
  readonly listener?: StoreListener | undefined;
}

/** Who hears of a store that goes and comes back. */
export interface StoreListener {
  onAway(reason: string): void;
  onBack(): void;
}

/** Leaves a store alone that does not answer: whoever asks meanwhile learns it at once. */
export class BreakingStore implements ObjectStore {
  readonly name: string;
  readonly #store: ObjectStore;
  readonly #rules: BreakerRules;
  #failures = 0;
  #openUntilMs = 0;
  #isTold = false;

  constructor(store: ObjectStore, rules: BreakerRules) {
    this.#store = store;
    this.#rules = rules;
    this.name = store.name;
  }

  get isOpen(): boolean {
    return this.#rules.nowMs() < this.#openUntilMs;
  }

  put(key: string, content: Uint8Array, contentType: string): Promise<void> {
    return this.#watched(() => this.#store.put(key, content, contentType));
  }

  get(key: string): Promise<Buffer | undefined> {
    return this.#watched(() => this.#store.get(key));
  }

  delete(keys: readonly string[]): Promise<void> {
    return this.#watched(() => this.#store.delete(keys));
  }

  list(prefix: string, options?: ListOptions): Promise<ObjectPage> {
    return this.#watched(() => this.#store.list(prefix, options));
  }

  addressOf(key: string, expiresInS: number): Promise<string | undefined> {
    return this.#store.addressOf(key, expiresInS);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #watched<T>(work: () => Promise<T>): Promise<T> {
    if (this.isOpen) throw new StoreError('the store is left alone for a while', true);
    try {
      const done = await work();
      this.#failures = 0;
      this.#tellBack();
      return done;
    } catch (error) {
      // What is refused was answered: the store is there.
      if (!(error instanceof StoreError) || !error.isAway) throw error;
      this.#failures++;
      // After the pause one failure is enough.
      if (this.#failures >= this.#rules.failuresMax) {
        this.#openUntilMs = this.#rules.nowMs() + this.#rules.openMs;
        this.#tellAway(error);
      }
      throw error;
    }
  }

  #tellAway({ message }: StoreError): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#rules.listener?.onAway(message);
  }

  #tellBack(): void {
    if (!this.#isTold) return;
    this.#isTold = false;
    this.#rules.listener?.onBack();
  }
}
