import { type CheckContext, CheckError, type CheckOutcome } from './check.ts';

/** @throws CheckError when the request names none */
export function requestedModel({ request }: CheckContext): string {
  if (typeof request.model === 'string' && request.model !== '') return request.model;
  throw new CheckError('NothingToCheck', 'The request names no model.');
}

export function modelOutcome(
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
