import { noUsage } from '@sluice/contracts';
import type { UnifiedRow } from '@sluice/providers';
import type { Bill } from '../exchange/bill.ts';
import { saidBytesPerToken } from './bill-attempt.ts';
import { arePossible } from './bounded-units.ts';
import { boundedUsage, chargedCounts, withUsage } from './bounded-usage.ts';
import type { NamedTarget, UseEstimates } from './estimate-use.ts';

/** More than any model reads or says. */
const bounds = { inputTokensMax: 20_000_000, outputTokensMax: 10_000_000 };

type Row = Pick<UnifiedRow, 'facts' | 'asked'>;
type RowEstimates = Pick<UseEstimates, 'promptOf'>;

/**
 * What a line that a provider answered in a batch is billed by, and what it made after its answer: what it counted, else an
 * estimate of the question – where the row repeats it – and of what was seen of the answer. No limit held anything for it.
 */
export function billRow(row: Row, target: NamedTarget, estimates: RowEstimates): Bill {
  const bill = billOfTokens(row, target, estimates);
  const { units, ...facts } = bill.facts;
  if (units === undefined || arePossible(units)) return bill;
  return { facts, isEstimated: true, isImplausible: true };
}

function billOfTokens({ facts, asked }: Row, target: NamedTarget, estimates: RowEstimates): Bill {
  const isImplausible =
    facts.usage !== undefined &&
    chargedCounts(facts).some((counts) => boundedUsage(counts, bounds).isImplausible);
  if (facts.usage !== undefined && !isImplausible)
    return { facts, isEstimated: false, isImplausible };
  const usage = {
    ...noUsage,
    inputTokens: asked === undefined ? 0 : estimates.promptOf(asked, target),
    outputTokens: Math.ceil((facts.saidBytes ?? 0) / saidBytesPerToken),
  };
  return { facts: withUsage(facts, usage), isEstimated: true, isImplausible };
}
