import { GatewayError } from '@sluice/errors';
import { Chain, type Linked } from '../chain/chain.ts';

export interface BodyPace {
  /** Bytes a second that a body must arrive with on average; 0 = any. */
  bytesPerSecondMin: number;
  /** How long nobody looks at the pace. */
  graceMs: number;
  /** Until the last byte, however fast they come; 0 = any time. */
  timeoutMs: number;
}

/** A body on its way in. */
export interface ArrivingBody extends Linked<ArrivingBody> {
  startedAt: number;
  total: number;
  fail(error: GatewayError): void;
}

/**
 * Ends bodies that drip: each holds a connection, its place in limits and what
 * has come of it. One timer looks at all of them, so that a body which is there
 * at once, as nearly all are, costs none of its own.
 */
export class SlowBodies {
  readonly #pace: BodyPace;
  readonly #arriving = new Chain<ArrivingBody>();
  #timer: NodeJS.Timeout | undefined;

  constructor(pace: BodyPace) {
    this.#pace = pace;
  }

  watch(body: ArrivingBody): void {
    this.#arriving.add(body);
    this.#timer ??= setInterval(() => this.#look(), lookMs).unref();
  }

  forget(body: ArrivingBody): void {
    this.#arriving.delete(body);
  }

  #look(): void {
    const now = performance.now();
    for (const body of this.#arriving) {
      const message = this.#faultOf(now - body.startedAt, body.total);
      if (message !== undefined) body.fail(new GatewayError('request.timeout', { message }));
    }
    if (this.#arriving.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #faultOf(elapsedMs: number, total: number): string | undefined {
    const { bytesPerSecondMin, graceMs, timeoutMs } = this.#pace;
    if (timeoutMs > 0 && elapsedMs > timeoutMs)
      return `The request body was not complete within ${timeoutMs} ms.`;
    if (elapsedMs <= graceMs || total * 1000 >= bytesPerSecondMin * elapsedMs) return undefined;
    return `The request body arrived with less than ${bytesPerSecondMin} bytes a second.`;
  }
}

const lookMs = 250;
