import { type AnswerOf, adminEndpoints, type EndpointId } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import { lookUpRates, type Rates } from '@sluice/pricing';
import { type RequestHandler, Router } from 'express';
import { presentPrices, presentSettings } from './present.ts';

const nameLengthMax = 512;

/**
 * What models cost, for whoever asks: no key, no caller, no database. The last
 * part of the path is all of a model's name, in which there may be slashes.
 */
export function modelPricingRoutes(now: () => Date): Router {
  const answering =
    <Id extends EndpointId>(id: Id, present: (rates: Rates) => AnswerOf<Id>): RequestHandler =>
    (req, res) => {
      res.locals.errorForm = adminEndpoints[id].errorForm;
      const { provider, model } = req.params as unknown as { provider: string; model: string[] };
      const rates = ratesOf(provider, model.join('/'), now());
      // Some prices depend on the time of day.
      res.setHeader('cache-control', 'public, max-age=300');
      res.json(present(rates));
    };
  return Router()
    .get('/model-configs/pricing/:provider/*model', answering('model-pricing.read', presentPrices))
    .get(
      '/model-configs/general/:provider/*model',
      answering('model-settings.read', presentSettings),
    );
}

function ratesOf(provider: string, model: string, now: Date): Rates {
  const rates =
    provider.length + model.length > nameLengthMax
      ? undefined
      : lookUpRates({ provider, model, atMs: now.getTime() });
  if (rates === undefined)
    throw new GatewayError('admin.not_found', { message: 'Model not found' });
  return rates;
}
