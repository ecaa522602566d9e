import type { Cost } from '@sluice/pricing';
import type { ReplyFacts } from '@sluice/providers';

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
