import { GatewayError } from '@sluice/errors';
import type { Exchange, Reply, Stage } from '../pipeline/exchange.ts';

/**
 * `GET /v1/models` without a provider: the models this workspace may use, as
 * `@provider-slug/model`. With one, the request goes to that provider. Listed
 * are the models an admin has named: a provider that allows all of them has
 * none of its own here, and is asked for them by naming it.
 */
export const listOwnModels: Stage = async (exchange, next) => {
  const { caller } = exchange;
  const forced = exchange.headers['x-service-fetch-integrated-models'] === 'true';
  const namesProvider =
    caller.provider !== undefined || exchange.config?.compiled.namesProvider === true;
  return namesProvider && !forced ? next() : ownModels(exchange);
};

function ownModels(exchange: Exchange): Reply {
  if (exchange.bundle === undefined) throw new GatewayError('internal');
  const data = [...exchange.bundle.providers.values()].flatMap((provider) =>
    [...provider.models.values()]
      .filter((model) => model.enabled)
      .map((model) => ({
        id: `@${provider.slug}/${model.slug}`,
        object: 'model',
        created: 0,
        owned_by: provider.providerId,
        slug: model.slug,
        provider: provider.slug,
      })),
  );
  const body = Buffer.from(
    JSON.stringify({ object: 'list', total: data.length, total_count: data.length, data }),
  );
  return { kind: 'body', status: 200, headers: { 'content-type': 'application/json' }, body };
}
