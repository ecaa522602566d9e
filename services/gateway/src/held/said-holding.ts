import type { Watching } from './config-source.ts';
import type { HeldState } from './held-bundles.ts';

/** In one message. */
const statesMax = 1_000;

/** Of what was said. */
interface Said {
  /** The moment in which it was. */
  readonly at: number;
  /** While nobody has answered to it. */
  pending: Promise<void> | undefined;
}

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
  readonly #said = new Map<string, Said>();
  readonly #waiting = new Map<bigint, Waiting>();
  #stream: Pick<Watching, 'holds'> | undefined;
  #number = 0n;
  #moment = 0;

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
    this.#moment += 1;
    for (const { id } of states) this.#said.set(id, { at: this.#moment, pending: undefined });
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

  /** For `hold`: to be taken before something is asked for of which nobody knows yet whose it is. */
  get moment(): number {
    return this.#moment;
  }

  /**
   * Undefined when changes of it are told already, or there is nobody to tell them; else what was asked for in
   * that moment must be asked for again once this is done: a change may have come between its answer and the telling.
   * Rejects when the control plane does not answer.
   */
  hold(id: string, askedAt = this.#moment): Promise<void> | undefined {
    if (this.#stream === undefined) return undefined;
    const before = this.#said.get(id);
    if (before !== undefined)
      return before.pending ?? (before.at > askedAt ? Promise.resolve() : undefined);
    this.#moment += 1;
    const said: Said = { at: this.#moment, pending: undefined };
    this.#said.set(id, said);
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      this.#said.delete(id);
      this.#waiting.delete(number);
      reject(new Error('the control plane did not answer to what is held'));
    }, this.#timeoutMs);
    const answered = this.#say({ held: [{ id, revision: 0n, stamp: '' }] }, timer);
    const number = this.#number;
    said.pending = Promise.race([answered, late]).finally(() => {
      said.pending = undefined;
    });
    return said.pending;
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
