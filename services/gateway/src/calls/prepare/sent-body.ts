import { shapeParams } from '@sluice/engine';
import type { JsonObject } from '@sluice/providers';
import type { ModelRequester } from '../../exchange/requester.ts';
import type { Target } from '../../exchange/target.ts';

/** The caller's JSON with the config's parameters; undefined when they change nothing. */
export function shapedBody({ subject }: ModelRequester, target: Target): JsonObject | undefined {
  if (subject.json === undefined || subject.operation.body === 'raw') return undefined;
  const shaped = shapeParams(target.planned, subject.json);
  if (shaped === undefined || target.model === '' || !('model' in shaped)) return shaped;
  return { ...shaped, model: target.model };
}

/** The body as it is encoded from: shaped or as it came, with the model that is asked for. */
export function sentBody(
  { subject }: ModelRequester,
  target: Target,
  shaped: JsonObject | undefined,
): JsonObject {
  const json = shaped ?? subject.json ?? {};
  return target.rewritesModel && 'model' in json ? { ...json, model: target.model } : json;
}

/** The body as it came, under the name of the model that serves it: for checks that look at it. */
export function servedBody({ subject }: ModelRequester, target: Target): JsonObject {
  const json = subject.json ?? {};
  return target.servedModel === '' || target.servedModel === subject.model
    ? json
    : { ...json, model: target.servedModel };
}
