import type { AnswerOf } from '@sluice/contracts/admin';
import type { PricedModel } from './price-model.ts';

/**
 * The book lists prices, not abilities: a kind is told only where a price is of
 * something that no other kind of model is paid for.
 */
export function presentSettings({ rates }: PricedModel): AnswerOf<'model-settings.read'> {
  const { units = {}, images, tiers } = rates;
  const primary =
    units.searchUnits !== undefined
      ? 'rerank'
      : units.pages !== undefined
        ? 'ocr'
        : units.audioSeconds !== undefined || units.characters !== undefined
          ? 'audio'
          : images !== undefined && tiers.length === 0
            ? 'image'
            : undefined;
  return {
    ...(primary === undefined ? {} : { type: { primary, supported: [] } }),
    isDefault: false,
  };
}
