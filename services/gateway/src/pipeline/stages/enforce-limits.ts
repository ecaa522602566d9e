import type { LimitStore } from '../../policies/limit-store.ts';
import { RequestLimits } from '../../policies/request-limits.ts';
import type { Exchange, Stage } from '../exchange.ts';

/** Limits that need no target: key, workspace, policies over both. Before anything is read or spent. */
export function enforceLimits(store: LimitStore): Stage {
  return async (exchange, next) => {
    const { key, bundle } = exchange;
    if (key === undefined || bundle === undefined)
      throw new Error('enforceLimits runs after authenticate');
    // Listing is a metadata operation: it consumes no one's limit.
    if (exchange.route.endpoint === 'listModels') return next();
    exchange.limits = new RequestLimits(store, key, bundle, requestFacts(exchange));
    const states = exchange.limits.reserveRequest();
    exchange.limitStates = states instanceof Promise ? await states : states;
    return next();
  };
}

function requestFacts(exchange: Exchange) {
  const { key, bundle } = exchange;
  if (key === undefined || bundle === undefined) throw new Error('no key');
  return {
    organisationId: key.source.organisationId,
    workspaceId: key.source.workspaceId,
    workspaceSlug: bundle.source.workspaceSlug,
    apiKeyId: key.source.id,
    apiKeySlug: key.source.slug === '' ? key.source.name : key.source.slug,
    endpoint: exchange.route.endpoint,
    metadata: exchange.metadata,
    configSlug: configSlug(exchange),
    promptSlug: undefined,
  };
}

/** The saved config the request will use, by name only: it is resolved later. */
function configSlug(exchange: Exchange): string | undefined {
  const named = exchange.caller.config;
  if (named !== undefined) return named.trimStart().startsWith('{') ? undefined : named;
  const fallback = exchange.key?.source.configSlug;
  return fallback === '' ? undefined : fallback;
}
