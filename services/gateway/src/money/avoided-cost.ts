import { noUsage, operations } from '@sluice/contracts';
import { areToolsAlone, type ReplyFacts, readKeptAnswer } from '@sluice/providers';
import type { ModelCall } from '../exchange/subject.ts';
import type { Target } from '../exchange/target.ts';
import { estimatedUsage } from './bill-attempt.ts';
import { arePossible } from './bounded-units.ts';
import { boundedUsage, chargedCounts, withUsage } from './bounded-usage.ts';
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
    const possible = possibleOf(facts, subject, target, estimates);
    const price = priceReply(possible, target, prices, Date.now());
    return price?.cost.totalNanoUsd ?? 0;
  };
}

/** As it was told, else as it would be estimated now: what cannot be true saved nothing. */
function possibleOf(
  told: ReplyFacts,
  subject: ModelCall,
  target: Target,
  estimates: UseEstimates,
): ReplyFacts {
  const { units, ...withoutUnits } = told;
  const facts: ReplyFacts = units === undefined || arePossible(units) ? told : withoutUnits;
  const { usage, saidBytes } = facts;
  const isTold =
    usage !== undefined &&
    chargedCounts(facts).every((counts) => !boundedUsage(counts, bounds).isImplausible);
  if (isTold && saidBytes === undefined) return facts;
  // What is charged by other units, or says nothing that could be counted.
  const isElsewhere = facts.units !== undefined && !areToolsAlone(facts.units);
  if (usage === undefined && (isElsewhere || saidBytes === undefined)) return facts;
  const counted = isTold ? usage : noUsage;
  const estimated = estimatedUsage(facts, counted, () => estimates.of(subject, target));
  return estimated === usage ? facts : withUsage(facts, estimated);
}

/** More than any call comes to. */
const tokensMax = 20_000_000;
const bounds = { inputTokensMax: tokensMax, outputTokensMax: tokensMax };
