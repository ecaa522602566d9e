import type { Watching } from './config-source.ts';
import type { HeldState } from './held-bundles.ts';

/** In one message. */
const statesMax = 1_000;

interface Waiting {
  readonly answered: () => void;
  readonly timer: NodeJS.Timeout | undefined;
}

/**
 * What the control plane was told, on the stream that is live, that is held
 * here: of that alone it tells changes. Something new is said before it is asked
 * for, so that no change falls between the answer and the telling.
 */
export class SaidHolding {
  readonly #timeoutMs: number;
  readonly #said = new Set<string>();
  readonly #waiting = new Map<bigint, Waiting>();
  #stream: Pick<Watching, 'holds'> | undefined;
  #number = 0n;

  constructor(options: { timeoutMs: number }) {
    this.#timeoutMs = options.timeoutMs;
  }

  /**
   * Says all that is held, to a stream that is ready to compare; resolves when what
   * is different has been told, or the stream has ended. A part at a time: each of it may be different.
   */
  async begin(
    stream: Pick<Watching, 'holds'>,
    states: readonly HeldState[],
    keysMark: string,
  ): Promise<void> {
    this.end();
    // The same stream may begin anew: what it was told before then counts no more.
    const telling = { holds: stream.holds };
    this.#stream = telling;
    for (const { id } of states) this.#said.add(id);
    for (let at = 0; at < states.length && this.#stream === telling; at += statesMax)
      await this.#say({ held: states.slice(at, at + statesMax) }, undefined);
    if (this.#stream === telling) await this.#say({ held: [], keysMark }, undefined);
  }

  /** The stream has ended, or begins anew. Whoever waits need not: there is nobody to tell changes. */
  end(): void {
    this.#stream = undefined;
    this.#said.clear();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { answered, timer } of waiting) {
      clearTimeout(timer);
      answered();
    }
  }

  /**
   * Undefined when changes of it are told already, or there is nobody to tell them.
   * Rejects when the control plane does not answer.
   */
  hold(id: string): Promise<void> | undefined {
    if (this.#stream === undefined || this.#said.has(id)) return undefined;
    this.#said.add(id);
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      this.#said.delete(id);
      reject(new Error('the control plane did not answer to what is held'));
    }, this.#timeoutMs);
    return Promise.race([this.#say({ held: [{ id, revision: 0n, stamp: '' }] }, timer), promise]);
  }

  compared(number: bigint): void {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    clearTimeout(waiting?.timer);
    waiting?.answered();
  }

  #say(
    holding: { held: readonly HeldState[]; keysMark?: string },
    timer: NodeJS.Timeout | undefined,
  ): Promise<void> {
    this.#number += 1n;
    const { promise, resolve: answered } = Promise.withResolvers<void>();
    this.#waiting.set(this.#number, { answered, timer });
    this.#stream?.holds({ ...holding, held: [...holding.held], number: this.#number });
    return promise;
  }
}
