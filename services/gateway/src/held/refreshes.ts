/** What failed, until it is tried again. */
interface Retry {
  readonly timer: NodeJS.Timeout;
  /** Whether it succeeded at last. */
  readonly done: Promise<boolean>;
  readonly end: (isDone: boolean | Promise<boolean>) => void;
}

/** Fetches what has changed, and what failed once more: one failed fetch must not leave a revoked key in force. */
export class Refreshes {
  readonly #retryMs: number;
  readonly #isConnected: () => boolean;
  /** By what is to be fetched: however often it changes meanwhile, it is tried again once. */
  readonly #retries = new Map<string, Retry>();

  /** `retryMs`: after a failed fetch, while the control plane is otherwise there. */
  constructor({ retryMs, isConnected }: { retryMs: number; isConnected: () => boolean }) {
    this.#retryMs = retryMs;
    this.#isConnected = isConnected;
  }

  /** Whether it is done now. Without the stream nothing is tried again: its next `ready` repeats everything. */
  async refresh(
    what: string,
    work: () => Promise<void>,
    onFault: (error: unknown) => void,
    tries = 0,
  ): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      onFault(error);
      if (!this.#isConnected() || this.#retries.has(what)) return false;
      const { promise: done, resolve: end } = Promise.withResolvers<boolean>();
      const timer = setTimeout(
        () => {
          this.#retries.delete(what);
          end(this.untilDone(what, this.refresh(what, work, onFault, tries + 1)));
        },
        retryAfterMs(this.#retryMs, tries),
      );
      timer.unref();
      this.#retries.set(what, { timer, done, end });
      return false;
    }
  }

  /** Whether it succeeded at last; false once it is tried no more. */
  async untilDone(what: string, refresh: Promise<boolean>): Promise<boolean> {
    return (await refresh) || (this.#retries.get(what)?.done ?? false);
  }

  forget(): void {
    for (const { timer, end } of this.#retries.values()) {
      clearTimeout(timer);
      end(false);
    }
    this.#retries.clear();
  }
}

/** Longer each time, and not for all gateways the same: one that is overrun must not be asked in step. */
function retryAfterMs(retryMs: number, tries: number): number {
  return retryMs * 2 ** Math.min(tries, 4) * (0.5 + Math.random());
}
