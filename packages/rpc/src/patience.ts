import { type Client, connectivityState } from '@grpc/grpc-js';

/** Longer than the pause between two tries to connect. */
const usualGraceMs = 3_000;
/** Who was asked for nothing for so long may have been there meanwhile. */
const forgetMs = 60_000;

/**
 * How long calls that are to fail fast wait for a side that is not there: a side that only just starts, or starts again, makes no
 * error that anybody sees. The wait is of all calls together, from the first that did not find it; once it is over they fail at once.
 */
export class Patience {
  readonly #client: Pick<Client, 'getChannel'>;
  readonly #graceMs: number;
  readonly #now: () => number;
  #goneAtMs: number | undefined;
  #askedAtMs = 0;

  constructor(
    client: Pick<Client, 'getChannel'>,
    graceMs = usualGraceMs,
    now = () => performance.now(),
  ) {
    this.#client = client;
    this.#graceMs = graceMs;
    this.#now = now;
  }

  /** 0 = the call fails at once. Of a side that is there all of it: it may have gone without a sign having come yet. */
  leftMs(): number {
    if (this.#isThere()) {
      this.#goneAtMs = undefined;
      return this.#graceMs;
    }
    const nowMs = this.#now();
    if (this.#goneAtMs === undefined || nowMs - this.#askedAtMs > forgetMs) this.#goneAtMs = nowMs;
    this.#askedAtMs = nowMs;
    return Math.max(0, this.#graceMs - (nowMs - this.#goneAtMs));
  }

  /** Tells when the wait is over and the side still not there. @returns what forgets about it */
  whenOver(graceMs: number | undefined, tell: () => void): () => void {
    if (graceMs === undefined || graceMs === 0) return () => {};
    const timer = setTimeout(() => {
      if (!this.#isThere()) tell();
    }, graceMs);
    timer.unref();
    return () => clearTimeout(timer);
  }

  #isThere(): boolean {
    return this.#client.getChannel().getConnectivityState(false) === connectivityState.READY;
  }
}
