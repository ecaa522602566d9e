import { noUsage } from '@sluice/contracts';
import { sumOfCosts } from '@sluice/pricing';
import type { ReplyFacts } from '@sluice/providers';
import type { PricedReply } from '../exchange/bill.ts';
import { clipped } from '../exchange/clipped.ts';
import type { AttemptListener, EndedAttempt, OutcomeListener } from '../exchange/prepared-call.ts';
import type { Target } from '../exchange/target.ts';
import type { PriceList } from './price-list.ts';
import { servedRegion } from './served-region.ts';

/** Says what an attempt cost, by its bill, for those who hear of it afterwards. */
export function priceAttempt(prices: PriceList): AttemptListener {
  const listener: OutcomeListener = (attempt) => {
    attempt.price = priceOf(attempt, prices);
  };
  return () => listener;
}

function priceOf({ call, bill }: EndedAttempt, prices: PriceList) {
  if (bill === undefined) return undefined;
  return priceReply(bill.facts, call.target, prices, call.requester.arrival.startedAtMs);
}

/** What a reply with such facts costs; undefined = no price is known, or there is nothing to charge. */
export function priceReply(
  facts: ReplyFacts,
  target: Target,
  prices: PriceList,
  atMs: number,
): PricedReply | undefined {
  const price = priceAnswer(facts, target, prices, atMs);
  const { otherModels } = facts;
  if (otherModels === undefined || (price === undefined && !isOfOthers(facts))) return price;
  // How fast something was made is said of the answer alone.
  const tier = facts.servedTier === 'fast' ? '' : (facts.servedTier ?? '');
  const region = servedRegion(target, facts);
  const priced = otherModels.map((other) => {
    const model = clipped(other.model);
    const counted = { tokens: other.tokens, units: undefined };
    const serving = { model, tier, region, atMs };
    return prices.price({ ...target, servedModel: model }, counted, serving);
  });
  const known = priced.filter((other) => other !== undefined);
  const [first, ...rest] = price === undefined ? known : [price, ...known];
  const sum = first && rest.reduce(together, first);
  return sum === undefined || known.length === priced.length
    ? sum
    : lacking(sum, 'other_model_token');
}

/** All that was used for the answer is told of other models: it has no price of its own to know. */
function isOfOthers({ chargedTokens, units }: ReplyFacts): boolean {
  const { inputTokens = 1, outputTokens = 1 } = chargedTokens ?? {};
  return inputTokens === 0 && outputTokens === 0 && units === undefined;
}

function lacking(price: PricedReply, unit: string): PricedReply {
  return price.unpriced.includes(unit) ? price : { ...price, unpriced: [...price.unpriced, unit] };
}

/** Who said the prices is told of the answer. */
function together(answer: PricedReply, other: PricedReply): PricedReply {
  const cost = sumOfCosts(answer.cost, other.cost);
  const listed = listedNanoUsd(answer) + listedNanoUsd(other);
  if (answer.multiplier === 0 || listed === 0) return { ...answer, cost };
  return { ...answer, cost, multiplier: cost.totalNanoUsd / listed };
}

/** Without what administrators multiply by. */
function listedNanoUsd({ cost, multiplier }: PricedReply): number {
  return multiplier === 0 ? cost.totalNanoUsd : cost.totalNanoUsd / multiplier;
}

function priceAnswer(facts: ReplyFacts, target: Target, prices: PriceList, atMs: number) {
  const { units } = facts;
  const tokens = tokensCharged(facts);
  if (tokens === undefined && units === undefined) return undefined;
  const asked = clipped(target.servedModel);
  const answering = clipped(facts.model ?? '');
  const counted = { tokens, units };
  const serving = {
    model: answering === '' ? asked : answering,
    tier: facts.servedTier ?? '',
    region: servedRegion(target, facts),
    atMs,
  };
  // The model that answered is the one that was paid for, unless the price book only knows the one asked for.
  const price = prices.price(target, counted, serving);
  if (price !== undefined || serving.model === asked) return price;
  return prices.price(target, counted, { ...serving, model: asked });
}

/** Fewer than were counted where some are free, more where some were used beside the answer. */
function tokensCharged({ usage, chargedTokens }: ReplyFacts): ReplyFacts['usage'] {
  if (usage === undefined || chargedTokens === undefined) return usage;
  return { ...noUsage, ...chargedTokens };
}
