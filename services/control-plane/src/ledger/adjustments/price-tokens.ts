import { noUsage } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { costOf, type PriceBook, type Rates } from '@sluice/pricing';
import type { usage } from '@sluice/proto-stubs';

/** Tokens that are to be added to what was counted; negative = too many were. */
export interface TokenDifference {
  readonly input: number;
  readonly output: number;
}

/**
 * What tokens more or less would have cost the attempt, by the list as it is now, on the day it was made: its cost
 * with them less its cost without, since prices change with the number of tokens.
 * @throws GatewayError where nobody lists a price, or the tokens would be fewer than none
 */
export function priceTokens(
  book: Pick<PriceBook, 'lookUp'>,
  record: usage.UsageRecord,
  earlier: readonly usage.Adjustment[],
  difference: TokenDifference,
) {
  const rates =
    record.priceLayer === 'custom' ? undefined : ratesOf(book, record.responseModel, record);
  if (rates === undefined)
    throw new GatewayError('admin.validation', {
      field: 'body.input_tokens',
      message: 'No list has a price for these tokens: say the cost.',
    });
  const counted = {
    ...noUsage,
    inputTokens: Number(record.inputTokens) + sum(earlier, 'inputTokens'),
    outputTokens: Number(record.outputTokens) + sum(earlier, 'outputTokens'),
    cacheReadTokens: Number(record.cacheReadTokens),
    cacheWriteTokens: Number(record.cacheWriteTokens),
    cacheWrite1hTokens: Number(record.cacheWrite1hTokens),
  };
  const then = {
    ...counted,
    inputTokens: counted.inputTokens + difference.input,
    outputTokens: counted.outputTokens + difference.output,
  };
  for (const [name, count] of [
    ['input_tokens', then.inputTokens],
    ['output_tokens', then.outputTokens],
  ] as const)
    if (count < 0)
      throw new GatewayError('admin.validation', {
        field: `body.${name}`,
        message: 'The attempt has not so many tokens.',
      });
  const [before, after] = [costOf(rates, counted), costOf(rates, then)];
  const factor = record.priceMultiplier > 0 ? record.priceMultiplier : 1;
  const more = (nanoUsd: number) => BigInt(Math.round(nanoUsd * factor));
  return {
    costNanoUsd: more(after.totalNanoUsd - before.totalNanoUsd),
    inputCostNanoUsd: more(after.inputNanoUsd - before.inputNanoUsd),
    outputCostNanoUsd: more(after.outputNanoUsd - before.outputNanoUsd),
    priceLayer: rates.layer,
    priceBookVersion: rates.version,
  };
}

/** Of the model that answered, unless only the one that was asked for has a price. */
function ratesOf(
  book: Pick<PriceBook, 'lookUp'>,
  model: string,
  record: usage.UsageRecord,
): Rates | undefined {
  const rates =
    model === ''
      ? undefined
      : book.lookUp({
          provider: record.provider,
          model,
          atMs: Number(record.createdAtMs),
          tier: record.serviceTier,
          region: record.servedRegion,
        });
  if (rates !== undefined && rates.tiers.length > 0) return rates;
  return model === record.model ? undefined : ratesOf(book, record.model, record);
}

function sum(earlier: readonly usage.Adjustment[], name: 'inputTokens' | 'outputTokens'): number {
  return earlier.reduce((total, adjustment) => total + Number(adjustment[name]), 0);
}
