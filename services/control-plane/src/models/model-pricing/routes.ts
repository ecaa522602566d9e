import { type AnswerOf, adminEndpoints, type EndpointId } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import type { PriceBook } from '@sluice/pricing';
import { type RequestHandler, Router } from 'express';
import { presentPrices } from './present-prices.ts';
import { presentSettings } from './present-settings.ts';
import { type PricedModel, priceModel } from './price-model.ts';

const nameLengthMax = 512;

/**
 * What models cost, for whoever asks: no key, no caller, no database. The last
 * part of the path is all of a model's name, in which there may be slashes.
 */
export function modelPricingRoutes(book: PriceBook, now: () => Date): Router {
  const answering =
    <Id extends EndpointId>(
      id: Id,
      present: (model: PricedModel) => AnswerOf<Id>,
    ): RequestHandler =>
    (req, res) => {
      res.locals.errorForm = adminEndpoints[id].errorForm;
      const { provider, model } = req.params as unknown as { provider: string; model: string[] };
      const priced = find(provider, model.join('/'));
      // Some prices depend on the time of day.
      res.setHeader('cache-control', 'public, max-age=300');
      res.json(present(priced));
    };
  const find = (provider: string, model: string): PricedModel => {
    const priced =
      provider.length + model.length > nameLengthMax
        ? undefined
        : priceModel(book, { provider, model, atMs: now().getTime() });
    if (priced === undefined)
      throw new GatewayError('admin.not_found', { message: 'Model not found' });
    return priced;
  };
  return Router()
    .get('/model-configs/pricing/:provider/*model', answering('model-pricing.read', presentPrices))
    .get(
      '/model-configs/general/:provider/*model',
      answering('model-settings.read', presentSettings),
    );
}
