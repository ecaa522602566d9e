import type { ParametersOf } from '@sluice/contracts/checks';
import { CheckError, type CheckFunction } from '../check.ts';
import { modelOutcome, requestedModel } from '../requested-model.ts';

/** Which models, by the request's metadata: the lists of all pairs that match, else the defaults. */
export function modelRules({ rules, not }: ParametersOf<'default.modelRules'>): CheckFunction {
  const defaults = rules.defaults ?? [];
  const byPair = Object.entries(rules.metadata ?? {}).flatMap(([key, values]) =>
    Object.entries(values).map(([value, models]) => ({ key, value, models: models ?? [] })),
  );
  return (context) => {
    const model = requestedModel(context);
    const matched = byPair.filter(
      ({ key, value }) => Object.hasOwn(context.metadata, key) && context.metadata[key] === value,
    );
    const union = [...new Set(matched.flatMap(({ models }) => models))];
    const models = union.length > 0 ? union : defaults;
    if (models.length === 0)
      throw new CheckError('NothingToCheck', 'The rules name no models for this request.');
    const isListed = models.includes(model) || models.includes('*');
    return modelOutcome(model, models, isListed !== not, {
      not,
      matchedRules: matched.map(({ key, value }) => `${key}:${value}`),
    });
  };
}
