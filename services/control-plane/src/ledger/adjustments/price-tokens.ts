import { GatewayError } from '@sluice/errors';
import {
  type Cost,
  costOfMoreTokens,
  costOfReply,
  type PriceBook,
  priceQueryOf,
  type Rates,
  type TokenDifference,
  tokensOf,
  unitsOf,
} from '@sluice/pricing';
import type { usage } from '@sluice/proto-stubs';

/**
 * What tokens more or fewer cost the attempt, by the list as it is now, when its request came in. Where nobody knew what it
 * cost, that with them: it is known from then on, and must not be what the difference costs alone.
 * @throws GatewayError where nobody lists a price, or the tokens would be fewer than none
 */
export function priceTokens(
  book: Pick<PriceBook, 'lookUp'>,
  record: usage.UsageRecord,
  earlier: readonly usage.Adjustment[],
  more: TokenDifference,
) {
  const rates =
    record.priceLayer === 'custom' ? undefined : ratesOf(book, record.responseModel, record);
  if (rates === undefined) throw unlisted('these tokens');
  const before = { input: sum(earlier, 'inputTokens'), output: sum(earlier, 'outputTokens') };
  for (const [name, count] of [
    ['input_tokens', Number(record.inputTokens) + before.input + more.input],
    ['output_tokens', Number(record.outputTokens) + before.output + more.output],
  ] as const)
    if (count < 0)
      throw new GatewayError('admin.validation', {
        field: `body.${name}`,
        message: 'The attempt has not so many tokens.',
      });
  const difference = costOfMoreTokens(rates, record, more, before);
  const standing = record.costKnown || earlier.length > 0 ? free : costOfRecord(rates, record);
  const factor = record.priceMultiplier > 0 ? record.priceMultiplier : 1;
  const charged = (side: 'totalNanoUsd' | 'inputNanoUsd' | 'outputNanoUsd') =>
    BigInt(Math.round((standing[side] + difference[side]) * factor));
  return {
    costNanoUsd: charged('totalNanoUsd'),
    inputCostNanoUsd: charged('inputNanoUsd'),
    outputCostNanoUsd: charged('outputNanoUsd'),
    priceLayer: rates.layer,
    priceBookVersion: rates.version,
  };
}

const free: Cost = { totalNanoUsd: 0, inputNanoUsd: 0, outputNanoUsd: 0 };

function costOfRecord(rates: Rates, record: usage.UsageRecord): Cost {
  const tokens = tokensOf(record);
  const units = unitsOf(record);
  if (tokens === undefined && units === undefined) return free;
  const cost = costOfReply(rates, tokens, units);
  if (cost === undefined) throw unlisted('what the attempt used');
  return cost;
}

function unlisted(what: string): GatewayError {
  return new GatewayError('admin.validation', {
    field: 'body.input_tokens',
    message: `No list has a price for ${what}: say the cost.`,
  });
}

/** Of the model that answered, unless only the one that was asked for has a price. */
function ratesOf(
  book: Pick<PriceBook, 'lookUp'>,
  model: string,
  record: usage.UsageRecord,
): Rates | undefined {
  const rates = model === '' ? undefined : book.lookUp(priceQueryOf(record, model));
  if (rates !== undefined && rates.tiers.length > 0) return rates;
  return model === record.model ? undefined : ratesOf(book, record.model, record);
}

function sum(earlier: readonly usage.Adjustment[], name: 'inputTokens' | 'outputTokens'): number {
  return earlier.reduce((total, adjustment) => total + Number(adjustment[name]), 0);
}
