import { setImmediate as nextTurn } from 'node:timers/promises';

interface Batch<Value> {
  readonly keys: Set<string>;
  readonly found: Promise<ReadonlyMap<string, Value>>;
  begin(): void;
}

export interface BatchesOptions<Value> {
  read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>;
  /** In one reading. */
  keysMax: number;
  /** Readings under way at once. */
  readingsMax: number;
}

/**
 * Reads many things together that are asked for one by one. What is asked for
 * while a reading is under way waits for the next one, so that an answer is
 * never older than its question, and hundreds of gateways that ask at once cost
 * a few readings: the more ask, the more share one.
 */
export class Batches<Value> {
  readonly #options: BatchesOptions<Value>;
  /** Not begun; only the last one takes more. */
  readonly #waiting: Batch<Value>[] = [];
  #underWay = 0;

  constructor(options: BatchesOptions<Value>) {
    this.#options = options;
  }

  /** Undefined when there is no such thing. */
  async get(key: string): Promise<Value | undefined> {
    let batch = this.#waiting.at(-1);
    if (batch === undefined || batch.keys.size >= this.#options.keysMax) batch = this.#open();
    batch.keys.add(key);
    return (await batch.found).get(key);
  }

  #open(): Batch<Value> {
    const keys = new Set<string>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const found = begun.then(() => this.#options.read([...keys]));
    const batch = { keys, found, begin };
    this.#waiting.push(batch);
    // Whoever asks in this turn comes along.
    void nextTurn().then(() => this.#beginNext());
    return batch;
  }

  #beginNext(): void {
    if (this.#underWay >= this.#options.readingsMax) return;
    const batch = this.#waiting.shift();
    if (batch === undefined) return;
    this.#underWay += 1;
    const end = () => {
      this.#underWay -= 1;
      this.#beginNext();
    };
    batch.begin();
    batch.found.then(end, end);
  }
}
