import type { FailureCause, GatewayError } from '@sluice/errors';
import type { Cost } from '@sluice/pricing';
import type { usage } from '@sluice/proto-stubs';
import type { ReplyFacts } from '@sluice/providers';
import type { PreparedCall } from './prepared-call.ts';

/** One sending of a prepared call. */
export interface Attempt {
  readonly call: PreparedCall;
  readonly retryCount: number;
}

/** What an attempt came to. */
export interface EndedAttempt extends Attempt {
  /** `performance.now()` when the provider was called, and now. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Since the start; 0 = nothing arrived. */
  readonly firstByteMs: number;
  /** `performance.now()` when an answer that is read whole was there; 0 = it was not read whole. */
  readonly readAt: number;
  readonly outcome: usage.Outcome;
  readonly status: number;
  /** Empty = no error. */
  readonly errorCode: string;
  /** Why the provider could not be asked, or did not end its answer. */
  readonly failureCause: FailureCause | undefined;
  readonly facts: ReplyFacts | undefined;
  /** The next bytes of the answer follow without a pause: what must be kept before them is written at once. */
  readonly isUrgent: boolean;
  /** Its stream broke off and others are asked for the rest: its record waits for what they come to. */
  readonly isContinued: boolean;
  /** False where it ended before anything of it had left: who asks could not be proved, or no connection was there yet. */
  readonly wasSent: boolean;
  /** Said by `billAttempt`; undefined = nothing was used. */
  bill: Bill | undefined;
  /** Said by `priceAttempt`; undefined = no price is known. */
  price: PricedReply | undefined;
}

/** What of an attempt is charged and counted, whoever told it. */
export interface Bill {
  /** As told, with the tokens that count. */
  readonly facts: ReplyFacts;
  /** The provider told no tokens, or not all of them: they are estimated from what was sent and seen. */
  readonly isEstimated: boolean;
  /** What it told cannot be true: the estimate stands in its place. */
  readonly isImplausible: boolean;
  /** Its answer tells of work that has a record of its own: nothing of it is charged here. */
  readonly isBilledApart?: true;
}

export interface PricedReply {
  readonly cost: Cost;
  /** What was used beside it without a price, by its names in price lists. */
  readonly unpriced: readonly string[];
  /** Who said the prices, and in which state they were. */
  readonly layer: string;
  readonly version: string;
  /** Of which place the prices are; empty = nobody says. */
  readonly region: string;
  /** The cost by what it would be without the administrators' multipliers; 0 = there are none. */
  readonly multiplier: number;
}

/** Hears what an attempt came to. What it returns is waited for before the end of the answer is sent. */
export type OutcomeListener = (attempt: EndedAttempt) => void | Promise<void>;

/**
 * Asked before each attempt: returns who hears its outcome; undefined = it does
 * not want to know. @throws GatewayError when the attempt must not be made
 */
export type AttemptListener = (attempt: Attempt) => OutcomeListener | Noting | undefined;

/** What an attempt waits for before it is made: that somebody has noted it. */
export interface Noting {
  readonly written: Promise<void>;
  /** Hears its outcome once it is written. */
  readonly hears: OutcomeListener;
  /** It could not be: what the attempt, which is not made, fails with. */
  refuse(error: unknown): GatewayError;
}
