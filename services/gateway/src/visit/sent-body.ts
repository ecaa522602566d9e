import { shapeParams } from '@sluice/engine';
import type { JsonObject } from '@sluice/providers';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { Target } from '../exchange/target.ts';

/** The caller's JSON with the config's parameters; undefined when they change nothing. */
export function shapedBody(exchange: ModelExchange, target: Target): JsonObject | undefined {
  if (exchange.subject.json === undefined || exchange.subject.operation.body === 'raw')
    return undefined;
  const shaped = shapeParams(target.planned, exchange.subject.json);
  if (shaped === undefined || target.model === '' || !('model' in shaped)) return shaped;
  return { ...shaped, model: target.model };
}

/** The body as it is encoded from: shaped or as it came, with the model that is asked for. */
export function sentBody(
  exchange: ModelExchange,
  target: Target,
  shaped: JsonObject | undefined,
): JsonObject {
  const json = shaped ?? exchange.subject.json ?? {};
  return target.rewritesModel && 'model' in json ? { ...json, model: target.model } : json;
}

/** The body as it came, under the name of the model that serves it: for checks that look at it. */
export function servedBody(exchange: ModelExchange, target: Target): JsonObject {
  const json = exchange.subject.json ?? {};
  return target.servedModel === '' || target.servedModel === exchange.subject.model
    ? json
    : { ...json, model: target.servedModel };
}
