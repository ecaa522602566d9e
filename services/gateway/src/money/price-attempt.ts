import type { AttemptListener, EndedAttempt, OutcomeListener } from '../exchange/attempt.ts';
import { clipped } from '../exchange/clipped.ts';
import type { PriceList } from './price-list.ts';

/** Says what an attempt cost, for those who hear of it afterwards. */
export function priceAttempt(prices: PriceList): AttemptListener {
  const listener: OutcomeListener = (attempt) => {
    attempt.price = priceOf(attempt, prices);
  };
  return () => listener;
}

function priceOf({ call, facts }: EndedAttempt, prices: PriceList) {
  const tokens = facts?.usage;
  const units = facts?.units;
  if (tokens === undefined && units === undefined) return undefined;
  const { target } = call;
  const atMs = call.requester.arrival.startedAtMs;
  const counted = { tokens, units };
  const answering = clipped(facts?.model ?? '');
  // The model that answered is the one that was paid for, unless the price book only knows the one asked for.
  return (
    (answering === '' ? undefined : prices.price(target, answering, counted, atMs)) ??
    prices.price(target, clipped(target.servedModel), counted, atMs)
  );
}
