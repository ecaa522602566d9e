import {
  type CheckContext,
  CheckError,
  type CheckKind,
  type CheckOutcome,
  type CheckParameters,
} from '../check.ts';
import {
  flag,
  optionalRecord,
  optionalTexts,
  requiredRecord,
  requiredTexts,
} from '../parameters.ts';

/** The model as it will be asked for, config's overrides included. */
export const modelWhitelist: CheckKind = {
  id: 'default.modelWhitelist',
  aliases: ['default.modelwhitelist'],
  compile(parameters) {
    const models = requiredTexts(parameters, 'models');
    const not = flag(parameters, 'not');
    return (context) => {
      const model = requestedModel(context);
      return outcome(model, models, models.includes(model) !== not, { not });
    };
  },
};

/** Which models, by the request's metadata: the lists of all pairs that match, else the defaults. */
export const modelRules: CheckKind = {
  id: 'default.modelRules',
  compile(parameters) {
    const rules = requiredRecord(parameters, 'rules');
    const defaults = optionalTexts(rules, 'defaults');
    const byPair = pairsOf(optionalRecord(rules, 'metadata') ?? {});
    const not = flag(parameters, 'not');
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
      return outcome(model, models, isListed !== not, {
        not,
        matchedRules: matched.map(({ key, value }) => `${key}:${value}`),
      });
    };
  },
};

interface ModelPair {
  key: string;
  value: string;
  models: readonly string[];
}

function pairsOf(metadata: CheckParameters): readonly ModelPair[] {
  return Object.keys(metadata).flatMap((key) => {
    const values = requiredRecord(metadata, key);
    return Object.keys(values).map((value) => ({
      key,
      value,
      models: optionalTexts(values, value),
    }));
  });
}

function requestedModel({ request }: CheckContext): string {
  if (typeof request.model === 'string' && request.model !== '') return request.model;
  throw new CheckError('NothingToCheck', 'The request names no model.');
}

function outcome(
  model: string,
  models: readonly string[],
  verdict: boolean,
  more: { not: boolean; matchedRules?: string[] },
): CheckOutcome {
  const explanation = `The model "${model}" is ${verdict ? '' : 'not '}allowed.`;
  return {
    verdict,
    data: { verdict, explanation, requestedModel: model, allowedModels: [...models], ...more },
  };
}
