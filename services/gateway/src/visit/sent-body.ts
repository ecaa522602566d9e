import { shapeParams } from '@sluice/engine';
import type { JsonObject } from '@sluice/providers';
import type { Exchange } from '../exchange/exchange.ts';
import type { Target } from './target/resolve-target.ts';

/** The caller's JSON with the config's parameters; undefined when they change nothing. */
export function shapedBody(exchange: Exchange, target: Target): JsonObject | undefined {
  if (exchange.json === undefined || exchange.route.isProxy) return undefined;
  const shaped = shapeParams(target.planned, exchange.json);
  if (shaped === undefined || target.model === '' || !('model' in shaped)) return shaped;
  return { ...shaped, model: target.model };
}

/** The body as it is encoded from: shaped or as it came, with the model that is asked for. */
export function sentBody(
  exchange: Exchange,
  target: Target,
  shaped: JsonObject | undefined,
): JsonObject {
  const json = shaped ?? exchange.json ?? {};
  return target.rewritesModel && 'model' in json ? { ...json, model: target.model } : json;
}

/** The body as it came, under the name of the model that serves it: for checks that look at it. */
export function servedBody(exchange: Exchange, target: Target): JsonObject {
  const json = exchange.json ?? {};
  return target.servedModel === '' || target.servedModel === exchange.model
    ? json
    : { ...json, model: target.servedModel };
}
