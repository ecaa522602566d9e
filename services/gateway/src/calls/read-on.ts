import { abortReason } from '../http/caller-gone.ts';

/** How many answers are read on at once after their callers left, and for how long each. */
export interface ReadOnBounds {
  countMax: number;
  timeoutMs: number;
}

/**
 * Reads answers on after their callers left, for the usage at their end. Few at
 * once, and not for long: nobody reads them, and the provider goes on charging.
 */
export class ReadOn {
  readonly #bounds: ReadOnBounds;
  #count = 0;

  constructor(bounds: ReadOnBounds) {
    this.#bounds = bounds;
  }

  get count(): number {
    return this.#count;
  }

  /** A signal that aborts later than `callers`, once for one call; `end` when that is over. */
  delay(callers: AbortSignal): LateAbort {
    const late = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const onAbort = () => {
      const hasLeft = abortReason(callers).code === 'request.aborted';
      if (!hasLeft || this.#count >= this.#bounds.countMax) {
        late.abort(callers.reason);
        return;
      }
      this.#count++;
      timer = setTimeout(() => late.abort(callers.reason), this.#bounds.timeoutMs);
    };
    if (callers.aborted) late.abort(callers.reason);
    else callers.addEventListener('abort', onAbort, { once: true });
    return {
      signal: late.signal,
      end: () => {
        callers.removeEventListener('abort', onAbort);
        if (timer === undefined) return;
        clearTimeout(timer);
        timer = undefined;
        this.#count--;
      },
    };
  }
}

export interface LateAbort {
  readonly signal: AbortSignal;
  end(): void;
}
