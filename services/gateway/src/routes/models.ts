import { setImmediate } from 'node:timers/promises';
import { matchObject } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { JsonObject } from '@sluice/providers';
import type { SavedProvider } from '../compiled/compiled-bundle.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Reply } from '../exchange/reply.ts';
import type { Stage } from '../pipeline/pipeline.ts';
import {
  chosen,
  isToBeAsked,
  type ModelTellers,
  modelOf,
  modelsOf,
  readModelsQuery,
  shownModel,
} from './own-models.ts';

const modelsAtOnce = 20;

/**
 * `GET /v1/models` without a provider: the models this workspace may use, as
 * `@provider-slug/model`. With one, the request goes to that provider. Listed
 * are the models an admin has named; of a provider that allows all and names none, those of
 * the catalogue of prices, or, where that knows nothing of it, those that it lists itself. Each tells what is known of what it takes and costs.
 */
export function listModels(tellers: ModelTellers): Stage {
  return async (exchange, next) => {
    return asksProvider(exchange) ? next() : ownModels(exchange, tellers);
  };
}

function asksProvider({ arrival: { caller, headers }, config }: Exchange): boolean {
  const compiled = config?.compiled;
  const forced =
    headers['x-service-fetch-integrated-models'] === 'true' ||
    compiled?.fetchIntegratedModels === true;
  return !forced && (caller.provider !== undefined || compiled?.namesProvider === true);
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

async function ownModels(exchange: Exchange, tellers: ModelTellers): Promise<Reply> {
  const { upstream } = tellers;
  const query = readModelsQuery(exchange.subject.search);
  const named = namedProviders(exchange);
  const providers = providersIn(exchange).filter(
    ({ slug }) =>
      (named === undefined || named.has(slug)) &&
      (query.provider === undefined || query.provider === slug),
  );
  await upstream?.look(exchange, providers.filter(isToBeAsked));
  const models = providers.flatMap((provider) => modelsOf(provider, upstream));
  const found = chosen(models, query);
  const end = query.limit === undefined ? undefined : query.offset + query.limit;
  const data: JsonObject[] = [];
  for (const model of found.slice(query.offset, end)) {
    data.push(shownModel(model, tellers));
    // A look at the book takes up to a millisecond, and others wait.
    if (data.length % modelsAtOnce === 0) await setImmediate();
  }
  const total = found.length;
  return answer({ object: 'list', total, total_count: total, data });
}

function providersIn({ bundle }: Exchange): SavedProvider[] {
  if (bundle === undefined) throw new GatewayError('internal');
  return [...bundle.providers.values()];
}

function answer(document: JsonObject): Reply {
  const headers = { 'content-type': 'application/json' };
  return { kind: 'body', status: 200, headers, body: Buffer.from(JSON.stringify(document)) };
}

/**
 * `GET /v1/models/{model}`: what is known of one of the workspace's models, as
 * `@provider-slug/model` or by its name alone. With a provider, the request goes to that one.
 */
export function tellModel(tellers: ModelTellers): Stage {
  return async (exchange, next) => {
    const { method, pathname } = exchange.arrival;
    const name = matchObject(method, pathname)?.parameters.model ?? '';
    const slash = name.indexOf('/');
    const slug = name.startsWith('@') && slash > 0 ? name.slice(1, slash) : undefined;
    if (slug === undefined && asksProvider(exchange)) return next();
    const providers = providersIn(exchange).filter(
      (one) => slug === undefined || one.slug === slug,
    );
    const model = slug === undefined ? name : name.slice(slash + 1);
    // By its name alone it must be named somewhere: whoever allows all would have any.
    const found = providers.flatMap(
      (provider) =>
        (slug === undefined
          ? modelsOf(provider, tellers.upstream).find((one) => one.slug === model)
          : modelOf(provider, model)) ?? [],
    );
    const [first] = found;
    if (first === undefined)
      throw new GatewayError('model.not_found', {
        field: 'path.model',
        message: `This workspace has no model "${name.slice(0, 120)}"; GET /v1/models lists those it has.`,
      });
    return answer(shownModel(first, tellers));
  };
}
