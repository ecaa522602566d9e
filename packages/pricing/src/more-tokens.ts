import { noUsage } from '@sluice/contracts';
import { type Cost, costOf } from './cost.ts';
import type { Rates } from './rates.ts';
import type { RecordedUse } from './recorded-use.ts';

/** Tokens that are to be added to what was counted; negative = too many were. */
export interface TokenDifference {
  readonly input: number;
  readonly output: number;
}

type CountedTokens = Pick<
  RecordedUse,
  'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens' | 'cacheWrite1hTokens'
>;

/**
 * What tokens more or fewer make of the cost of an attempt: its cost with them less its cost without, since prices
 * change with the number of tokens. The rates must have a price for them.
 * @param before what was added to the record's count already
 */
export function costOfMoreTokens(
  rates: Rates,
  record: CountedTokens,
  more: TokenDifference,
  before: TokenDifference = { input: 0, output: 0 },
): Cost {
  const counted = {
    ...noUsage,
    inputTokens: Number(record.inputTokens) + before.input,
    outputTokens: Number(record.outputTokens) + before.output,
    cacheReadTokens: Number(record.cacheReadTokens),
    cacheWriteTokens: Number(record.cacheWriteTokens),
    cacheWrite1hTokens: Number(record.cacheWrite1hTokens),
  };
  const [less, whole] = [
    costOf(rates, counted),
    costOf(rates, {
      ...counted,
      inputTokens: counted.inputTokens + more.input,
      outputTokens: counted.outputTokens + more.output,
    }),
  ];
  return {
    totalNanoUsd: whole.totalNanoUsd - less.totalNanoUsd,
    inputNanoUsd: whole.inputNanoUsd - less.inputNanoUsd,
    outputNanoUsd: whole.outputNanoUsd - less.outputNanoUsd,
  };
}
