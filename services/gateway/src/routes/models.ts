import { GatewayError } from '@sluice/errors';
import { factsOfModel, type JsonObject, type ModelOverrides, shownFacts } from '@sluice/providers';
import type { Exchange } from '../exchange/exchange.ts';
import type { Reply } from '../exchange/reply.ts';
import type { Stage } from '../pipeline/pipeline.ts';

/**
 * `GET /v1/models` without a provider: the models this workspace may use, as
 * `@provider-slug/model`. With one, the request goes to that provider. Listed
 * are the models an admin has named: a provider that allows all of them has
 * none of its own here, and is asked for them by naming it. Each tells what is
 * known of what it takes.
 */
export function listModels(overrides: ModelOverrides | undefined): Stage {
  return async (exchange, next) => {
    const { caller } = exchange.arrival;
    const compiled = exchange.config?.compiled;
    const forced =
      exchange.arrival.headers['x-service-fetch-integrated-models'] === 'true' ||
      compiled?.fetchIntegratedModels === true;
    const namesProvider = caller.provider !== undefined || compiled?.namesProvider === true;
    return namesProvider && !forced ? next() : ownModels(exchange, overrides);
  };
}

/**
 * The saved providers that the request names, by config or else by header;
 * undefined = all. A target may name its provider in its model, `@slug/model`.
 */
function namedProviders({
  arrival: { caller },
  config,
}: Exchange): ReadonlySet<string> | undefined {
  const targets = config?.compiled.targets ?? [];
  if (targets.some(({ passthrough }) => passthrough)) return undefined;
  const references = targets.flatMap(({ provider, overrideParams }) => [
    provider,
    overrideParams?.model,
  ]);
  if (config?.compiled.namesProvider !== true) references.push(caller.provider);
  const slugs = references.flatMap((reference) =>
    typeof reference === 'string' && reference.startsWith('@')
      ? [reference.slice(1).split('/', 1)[0] ?? '']
      : [],
  );
  return slugs.length === 0 ? undefined : new Set(slugs);
}

function ownModels(exchange: Exchange, overrides: ModelOverrides | undefined): Reply {
  if (exchange.bundle === undefined) throw new GatewayError('internal');
  const named = namedProviders(exchange);
  const providers = [...exchange.bundle.providers.values()];
  const data = providers.flatMap((provider) =>
    named !== undefined && !named.has(provider.slug)
      ? []
      : [...provider.models.values()]
          .filter((model) => model.enabled)
          .map((model) => ({
            id: `@${provider.slug}/${model.slug}`,
            object: 'model',
            created: 0,
            owned_by: provider.providerId,
            slug: model.slug,
            provider: provider.slug,
            ...factsField(model.slug, overrides),
          })),
  );
  const body = Buffer.from(
    JSON.stringify({ object: 'list', total: data.length, total_count: data.length, data }),
  );
  return { kind: 'body', status: 200, headers: { 'content-type': 'application/json' }, body };
}

/** What is known of the model, so that a caller may know before it asks. */
function factsField(model: string, overrides: ModelOverrides | undefined): JsonObject {
  const facts = factsOfModel(model, overrides);
  return facts === undefined ? {} : { facts: shownFacts(facts) };
}
