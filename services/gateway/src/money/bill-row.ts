import { noUsage } from '@sluice/contracts';
import type { UnifiedRow } from '@sluice/providers';
import type { Bill } from '../exchange/attempt.ts';
import { boundedUsage } from './bounded-usage.ts';
import type { NamedTarget, UseEstimates } from './estimate-use.ts';

/** More than any model reads or says. */
const bounds = { inputTokensMax: 20_000_000, outputTokensMax: 10_000_000 };
/** Of what models write. */
const charsPerToken = 4;

/**
 * What a line that a provider answered in a batch is billed by: what it counted, else an estimate of the
 * question – where the row repeats it – and of what was seen of the answer. No limit held anything for it.
 */
export function billRow(
  { facts, asked }: Pick<UnifiedRow, 'facts' | 'asked'>,
  target: NamedTarget,
  estimates: Pick<UseEstimates, 'promptOf'>,
): Bill {
  const isImplausible =
    facts.usage !== undefined && boundedUsage(facts.usage, bounds).isImplausible;
  if (facts.usage !== undefined && !isImplausible)
    return { facts, isEstimated: false, isImplausible };
  const { chargedTokens: _, ...others } = facts;
  const usage = {
    ...noUsage,
    inputTokens: asked === undefined ? 0 : estimates.promptOf(asked, target),
    outputTokens: Math.ceil((facts.textChars ?? 0) / charsPerToken),
  };
  return { facts: { ...others, usage }, isEstimated: true, isImplausible };
}
