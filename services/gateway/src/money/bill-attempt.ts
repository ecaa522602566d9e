import { noUsage } from '@sluice/contracts';
import { usage } from '@sluice/proto-stubs';
import { areToolsAlone, type ReplyFacts, type Usage } from '@sluice/providers';
import { mayHaveUsed } from '@sluice/usage';
import type { Bill } from '../exchange/bill.ts';
import {
  type AttemptListener,
  type EndedAttempt,
  type OutcomeListener,
  type PreparedCall,
  sentBytes,
} from '../exchange/prepared-call.ts';
import { bodyBytes } from '../exchange/subject.ts';
import { arePossible } from './bounded-units.ts';
import { boundedUsage, chargedCounts, type UsageBounds, withUsage } from './bounded-usage.ts';
import { countsTokens, goesOn } from './counts-tokens.ts';
import { estimateOfCall } from './estimate-of-call.ts';
import { modelKeyOf, type UseEstimates } from './estimate-use.ts';
import type { EstimatedUse } from './estimated-use.ts';
import { mediaUsed } from './media-use.ts';
import type { ObservedModels } from './observed-models.ts';

const { Outcome } = usage;

/**
 * Decides what an attempt is billed by (docs/limits.md has the table): what the
 * provider counted; where it did not, or not to the end, an estimate of what was
 * sent and seen; nothing where nothing was used.
 */
export function billAttempt(estimates: UseEstimates, observed: ObservedModels): AttemptListener {
  const listener: OutcomeListener = (ended) => {
    ended.bill = billOf(ended, estimates);
    learn(ended, estimates, observed);
  };
  return () => listener;
}

function billOf(ended: EndedAttempt, estimates: UseEstimates): Bill | undefined {
  const { translation, requester } = ended.call;
  if (!ended.wasSent) return undefined;
  if (translation !== undefined && goesOn(requester.subject, translation))
    // A stream that told it to its end is the first that saw it end; of what goes on nobody knows yet.
    return ended.facts?.usage === undefined ? undefined : billedApart;
  const bill = billOfTokens(ended, estimates);
  const units = bill?.facts.units;
  if (bill === undefined || units === undefined || arePossible(units)) return bill;
  const use = estimateOfCall(ended.call, estimates);
  return {
    facts: { ...bill.facts, units: use.units.most ?? {} },
    isEstimated: true,
    isImplausible: true,
  };
}

const billedApart: Bill = {
  facts: {},
  isEstimated: false,
  isImplausible: false,
  isBilledApart: true,
};

function billOfTokens(ended: EndedAttempt, estimates: UseEstimates): Bill | undefined {
  const { facts = {} } = ended;
  const told = facts.usage;
  if (told !== undefined && facts.isEstimate === true) return estimated(facts, told);
  if (told === undefined) {
    if (mayHaveUsedTokens(ended)) return seen(ended, usageOf(ended, estimates, noUsage), estimates);
    const media = mediaUsed(ended, () => estimateOfCall(ended.call, estimates));
    if (media !== undefined) return { facts: media, isEstimated: true, isImplausible: false };
    return facts.units === undefined ? undefined : asTold(facts);
  }
  const estimate = () => estimateOfCall(ended.call, estimates);
  const isImplausible = !chargedCounts(facts).every((counts) =>
    isPossible(counts, ended.call, estimate),
  );
  if (isImplausible) {
    const { inputTokens, outputTokens } = estimate();
    return { ...estimated(facts, { ...noUsage, inputTokens, outputTokens }), isImplausible };
  }
  if (!wasCut(ended) && facts.saidBytes === undefined) return asTold(facts);
  // A stream that was cut, or never counted to its end, told what it had counted by then.
  const usage = usageOf(ended, estimates, told);
  return usage === told ? asTold(facts) : estimated(facts, usage);
}

function isPossible(counts: Usage, call: PreparedCall, estimate: () => EstimatedUse): boolean {
  return !boundedUsage(counts, boundsOf(call, counts, estimate)).isImplausible;
}

function asTold(facts: ReplyFacts): Bill {
  return { facts, isEstimated: false, isImplausible: false };
}

/** Of a reply that told no count of its own: what others drew for it by then is charged beside the estimate. */
function seen({ call, facts = {} }: EndedAttempt, usage: Usage, estimates: UseEstimates): Bill {
  const bill = estimated(facts, usage);
  const { otherModels, chargedTokens } = facts;
  if (otherModels === undefined || chargedTokens !== undefined) return bill;
  const estimate = () => estimateOfCall(call, estimates);
  if (!otherModels.every(({ tokens }) => isPossible(tokens, call, estimate))) return bill;
  return { ...bill, facts: { ...bill.facts, otherModels } };
}

function estimated(facts: ReplyFacts, usage: Usage): Bill {
  return { facts: withUsage(facts, usage), isEstimated: true, isImplausible: false };
}

/** The call was sent, and the provider may have worked on it. */
function mayHaveUsedTokens(ended: EndedAttempt): boolean {
  if (!countsTokens(ended.call)) return false;
  if (ended.facts?.isChargedRefusal === true) return true;
  if (!mayHaveUsed(ended)) return false;
  const isWhole = ended.outcome === Outcome.SUCCESS || ended.outcome === Outcome.DENIED;
  const units = ended.facts?.units;
  return !isWhole || units === undefined || areToolsAlone(units);
}

function wasCut({ outcome }: EndedAttempt): boolean {
  return (
    outcome === Outcome.PARTIAL ||
    outcome === Outcome.CALLER_GONE ||
    outcome === Outcome.UPSTREAM_FAILURE ||
    outcome === Outcome.GATEWAY_ERROR
  );
}

function usageOf({ call, facts = {} }: EndedAttempt, estimates: UseEstimates, told: Usage): Usage {
  return estimatedUsage(facts, told, () => estimateOfCall(call, estimates));
}

/** The prompt, and what was seen of the answer; never less than the provider told. */
export function estimatedUsage(
  { saidBytes = 0 }: ReplyFacts,
  told: Usage,
  estimating: () => EstimatedUse,
): Usage {
  const seen = Math.ceil(saidBytes / saidBytesPerToken);
  if (told.inputTokens > 0 && told.outputTokens >= seen) return told;
  const estimate = estimating();
  return {
    ...told,
    inputTokens: told.inputTokens > 0 ? told.inputTokens : estimate.expected.inputTokens,
    outputTokens: Math.max(told.outputTokens, Math.min(seen, estimate.outputTokens)),
  };
}

/** Of what models write; less than in what they read, which has more marks and names. */
export const saidBytesPerToken = 4;

/** What frames of turns and tools that a vendor adds may count, beside each byte that was sent. */
const inputAllowance = 20_000;
/** More than the window of any model. */
const tokensMax = 20_000_000;
/** What some vendors let a model think beyond the limit of its answer. */
const outputAllowance = 200_000;
/** The same of models that do research, which quote and tell what they quoted. */
const researchAllowance = 2_000_000;

/** What the call can have counted at most. Few count more than the allowances; only of those the request is looked at. */
function boundsOf(call: PreparedCall, told: Usage, estimate: () => EstimatedUse): UsageBounds {
  // What is sent may have more than came, and in another format less.
  const bytes = Math.max(bodyBytes(call.requester.subject), sentBytes(call));
  let inputTokensMax = bytes + inputAllowance;
  let outputTokensMax = told.citationTokens === undefined ? outputAllowance : researchAllowance;
  if (told.inputTokens > inputTokensMax && estimate().isOpen) inputTokensMax = tokensMax;
  if (told.outputTokens > outputTokensMax) outputTokensMax += estimate().outputTokens;
  return { inputTokensMax, outputTokensMax };
}

function learn(
  { call, bill, outcome }: EndedAttempt,
  estimates: UseEstimates,
  observed: ObservedModels,
): void {
  const tokens = bill?.facts.usage;
  if (outcome !== Outcome.SUCCESS || bill === undefined || tokens === undefined) return;
  if (bill.isEstimated || call.addressBy === 'caller') return;
  const { target, requester } = call;
  const key = modelKeyOf(target);
  const known = estimates.teaches(requester.subject);
  observed.learn(key, known, tokens.inputTokens, tokens.outputTokens);
}
