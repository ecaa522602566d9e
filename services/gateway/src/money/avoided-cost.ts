import { noUsage, operations } from '@sluice/contracts';
import { areToolsAlone, type ReplyFacts, readKeptAnswer } from '@sluice/providers';
import type { ModelCall } from '../exchange/subject.ts';
import type { Target } from '../exchange/target.ts';
import { estimatedUsage } from './bill-attempt.ts';
import { boundedUsage } from './bounded-usage.ts';
import type { UseEstimates } from './estimate-use.ts';
import { priceReply } from './price-attempt.ts';
import type { PriceList } from './price-list.ts';

/** An answer as it was kept, in its caller's format. */
interface Kept {
  readonly body: Buffer;
  readonly isStream: boolean;
}

/** What a kept answer would have cost, asked for now, in nano-USD; 0 = no price is known. */
type AvoidedCost = (subject: ModelCall, target: Target, kept: Kept) => number;

export function avoidedCost(estimates: UseEstimates, prices: PriceList): AvoidedCost {
  // A kept answer is given many times, and tells the same each time.
  const known = new WeakMap<Buffer, ReplyFacts>();
  return (subject, target, kept) => {
    let facts = known.get(kept.body);
    if (facts === undefined) {
      facts = readKeptAnswer(operations[subject.operation.id].format, kept, subject.json ?? {});
      known.set(kept.body, facts);
    }
    const price = priceReply(
      { ...facts, ...usageOf(facts, subject, target, estimates) },
      target,
      prices,
      Date.now(),
    );
    return price?.cost.totalNanoUsd ?? 0;
  };
}

/** As it was told, else as it would be estimated now. */
function usageOf(
  facts: ReplyFacts,
  subject: ModelCall,
  target: Target,
  estimates: UseEstimates,
): Pick<ReplyFacts, 'usage'> {
  const { usage, units, saidBytes } = facts;
  const isTold = usage !== undefined && !boundedUsage(usage, bounds).isImplausible;
  if (isTold && saidBytes === undefined) return { usage };
  // What is charged by other units, or says nothing that could be counted.
  const isElsewhere = units !== undefined && !areToolsAlone(units);
  if (usage === undefined && (isElsewhere || saidBytes === undefined)) return {};
  const told = isTold ? usage : noUsage;
  return { usage: estimatedUsage(facts, told, () => estimates.of(subject, target)) };
}

/** More than any call comes to. */
const tokensMax = 20_000_000;
const bounds = { inputTokensMax: tokensMax, outputTokensMax: tokensMax };
