import type { ReplyUnits } from '@sluice/contracts';
import type { CacheLifetime } from '@sluice/engine';

/** What a request will use at one target, as far as can be told before it is sent. In tokens. */
export interface EstimatedUse {
  /** Seldom less than is counted, never more than the bytes that are sent and what they name. */
  readonly inputTokens: number;
  /** What the request allows. */
  readonly outputTokens: number;
  /** What answers of the model came to in 99 of 100 cases, within what the request allows. */
  readonly observedOutputTokens: number;
  /** What is likely. */
  readonly expected: { readonly inputTokens: number; readonly outputTokens: number };
  /** What is named, not sent, may count more than is estimated. */
  readonly isOpen: boolean;
  /** Marked to be kept by the provider, for so long at most. */
  readonly writesCache: CacheLifetime | undefined;
  /** What is charged by other units. */
  readonly units: EstimatedUnits;
}

/** Undefined = nothing. */
export interface EstimatedUnits {
  readonly least: ReplyUnits | undefined;
  readonly expected: ReplyUnits | undefined;
  readonly most: ReplyUnits | undefined;
}
