import type { RequestFacts } from '@sluice/engine';
import type { Exchange } from '../pipeline/exchange.ts';

/** What policies may look at before a target is chosen. Runs once key and workspace are known. */
export function requestFacts(exchange: Exchange): RequestFacts {
  const { key, bundle } = exchange;
  if (key === undefined || bundle === undefined)
    throw new Error('limits are looked at after authentication');
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
