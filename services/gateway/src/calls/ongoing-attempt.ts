import type { IncomingHttpHeaders } from 'node:http';
import type { FailureCause } from '@sluice/errors';
import { usage } from '@sluice/proto-stubs';
import { type ReplyFacts, servedTierOf } from '@sluice/providers';
import type { Bill, PricedReply } from '../exchange/bill.ts';
import type {
  AttemptListener,
  EndedAttempt,
  OutcomeListener,
  PreparedCall,
} from '../exchange/prepared-call.ts';

const { Outcome } = usage;

/** One attempt from before it is made to its one outcome, which its listeners hear. */
export class OngoingAttempt implements EndedAttempt {
  readonly call: PreparedCall;
  readonly retryCount: number;
  startedAt = 0;
  endedAt = 0;
  firstByteMs = 0;
  outcome: usage.Outcome = 0;
  status = 0;
  errorCode = '';
  failureCause: FailureCause | undefined = undefined;
  readAt = 0;
  facts: ReplyFacts | undefined = undefined;
  isUrgent = false;
  isContinued = false;
  wasSent = true;
  bill: Bill | undefined = undefined;
  price: PricedReply | undefined = undefined;
  /** Tells that the caller left, where the answer is read on after that. */
  readsOnAfter: AbortSignal | undefined = undefined;
  /** Of a provider that says in a header which tier it served. */
  #toldTier: string | undefined;
  readonly #listeners: OutcomeListener[] = [];
  #isOver = false;

  constructor(call: PreparedCall, retryCount: number) {
    this.call = call;
    this.retryCount = retryCount;
  }

  /** Tells everybody that it is about to be made. @throws GatewayError when it must not be */
  async begin(listeners: readonly AttemptListener[]): Promise<void> {
    for (const listener of listeners) {
      const asked = listener(this);
      if (asked === undefined) continue;
      if (typeof asked === 'function') {
        this.#listeners.push(asked);
        continue;
      }
      try {
        await asked.written;
      } catch (error) {
        throw asked.refuse(error);
      }
      this.#listeners.push(asked.hears);
    }
    this.startedAt = performance.now();
  }

  /** Hears its end after all others. */
  onEnd(hears: () => void): void {
    this.#listeners.push(hears);
  }

  get hasFirstByte(): boolean {
    return this.firstByteMs !== 0;
  }

  /** What is left of a time that began with the attempt. */
  remainingMs(timeoutMs: number): number {
    return Math.max(0, timeoutMs - (performance.now() - this.startedAt));
  }

  heardHead(headers: IncomingHttpHeaders): void {
    const { tierHeader } = this.call.target.entry;
    if (tierHeader !== undefined) this.#toldTier = servedTierOf(headers[tierHeader]);
  }

  firstByte(): void {
    if (this.firstByteMs === 0) this.firstByteMs = performance.now() - this.startedAt;
  }

  /** The whole answer is here: what it takes from here on is not the provider's time. */
  bodyRead(): void {
    this.readAt = performance.now();
  }

  /** For streams, where the next bytes follow without a pause. Only the first call of either counts. */
  finishNow(
    outcome: usage.Outcome,
    status: number,
    errorCode: string,
    facts: ReplyFacts | undefined,
    failureCause?: FailureCause,
  ): void {
    if (this.#isOver) return;
    this.isUrgent = true;
    void this.finish(outcome, status, errorCode, facts, failureCause);
  }

  /** Resolves when what is to be kept is written, which the answer must wait for. */
  finish(
    outcome: usage.Outcome,
    status: number,
    errorCode: string,
    facts: ReplyFacts | undefined,
    failureCause?: FailureCause,
  ): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#isOver = true;
    this.endedAt = performance.now();
    // Read on to its end after its caller had left.
    const isUnread = outcome === Outcome.SUCCESS && this.readsOnAfter?.aborted === true;
    this.outcome = isUnread ? Outcome.CALLER_GONE : outcome;
    this.status = status;
    this.errorCode = isUnread ? 'request.aborted' : errorCode;
    this.failureCause = failureCause;
    this.facts =
      facts === undefined || this.#toldTier === undefined
        ? facts
        : { ...facts, servedTier: this.#toldTier };
    let pending: Promise<void> | undefined;
    for (const hears of this.#listeners) {
      const heard = hears(this);
      if (heard instanceof Promise)
        pending = pending === undefined ? heard : Promise.all([pending, heard]).then(() => {});
    }
    return pending ?? Promise.resolve();
  }
}
