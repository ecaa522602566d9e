import type { ParametersOf } from '@sluice/contracts/checks';
import type { CheckFunction } from '../check.ts';
import { modelOutcome, requestedModel } from '../requested-model.ts';

/** The model as it will be asked for, config's overrides included. */
export function modelWhitelist({
  models,
  not,
}: ParametersOf<'default.modelWhitelist'>): CheckFunction {
  return (context) => {
    const model = requestedModel(context);
    return modelOutcome(model, models, models.includes(model) !== not, { not });
  };
}
