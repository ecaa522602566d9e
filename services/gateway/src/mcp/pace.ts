import type { Abortable } from '../http/caller-gone.ts';
import type { CallReply } from './caller-reply.ts';

/** Keeps whoever writes to a caller from going on while the caller reads slowly: what is not read would be held here. */
export class Pace {
  readonly #reply: CallReply;
  #isHearing = false;
  #wake = () => {};

  constructor(reply: CallReply) {
    this.#reply = reply;
  }

  /** To be called when a write said that it was too fast. Resolves when that is read, the caller has left, or the signal is given. */
  async wait(signal: Abortable): Promise<void> {
    if (this.#reply.isOver || signal.aborted) return;
    if (!this.#isHearing) {
      this.#isHearing = true;
      this.#reply.onDrain(() => this.#wake());
      this.#reply.onClose(() => this.#wake());
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    signal.addEventListener('abort', resolve, { once: true });
    await promise;
    signal.removeEventListener('abort', resolve);
  }
}
