import type { ParametersOf } from '@sluice/contracts/checks';
import type { CheckFunction } from '../check.ts';
import { metadataOutcome, metadataValue } from '../metadata-outcome.ts';

export function requiredMetadataKeys({
  metadataKeys,
  operator,
}: ParametersOf<'default.requiredMetadataKeys'>): CheckFunction {
  return (context) =>
    metadataOutcome(
      operator,
      metadataKeys,
      metadataKeys.filter((key) => metadataValue(context, key) !== undefined),
    );
}
