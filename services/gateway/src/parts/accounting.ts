import { type Children, countChildren } from '../children/children.ts';
import type { AttemptListener } from '../exchange/prepared-call.ts';
import { holdAttempt } from '../limits/hold-attempt.ts';
import { billAttempt } from '../money/bill-attempt.ts';
import { countAttempt } from '../money/count-attempt.ts';
import type { UseEstimates } from '../money/estimate-use.ts';
import { guessPrompt } from '../money/guess-prompt.ts';
import type { ObservedModels } from '../money/observed-models.ts';
import { priceAttempt } from '../money/price-attempt.ts';
import type { PriceList } from '../money/price-list.ts';
import { recordAttempt } from '../usage/record-attempt.ts';
import type { UsageRecorder } from '../usage/usage-recorder.ts';

export interface AccountingParts {
  estimates: UseEstimates;
  observed: ObservedModels;
  prices: PriceList;
  recorder: UsageRecorder;
  children: Children;
}

/** What becomes of whatever is paid for: one meter for calls and for what is said in sessions. */
export function accounting({
  estimates,
  observed,
  prices,
  recorder,
  children,
}: AccountingParts): readonly AttemptListener[] {
  return [
    billAttempt(estimates, observed), // before its price
    priceAttempt(prices), // before the record, which says what it cost
    countChildren(children), // after its price
    countAttempt(estimates, prices), // before the record, which says what was counted
    recordAttempt(recorder, guessPrompt(prices)), // what cannot be noted is not made
    holdAttempt, // after what may say that it is not made
  ];
}
