import type { RequestFacts } from '@sluice/engine';
import type { Exchange } from '../exchange/exchange.ts';
import type { Subject } from '../exchange/subject.ts';
import { isInlineConfig } from '../http/inline-config.ts';
import { askedEndpoint } from './asked-endpoint.ts';

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
    endpoint: askedEndpoint(exchange),
    ...(exchange.subject.operation.about === 'object' ? { passesThrough: true } : {}),
    metadata: exchange.metadata,
    configSlug: configSlug(exchange),
    promptSlug: promptIn(exchange.subject)?.slug,
  };
}

function promptIn(subject: Subject) {
  return subject.kind === 'model-call' ? subject.prompt : undefined;
}

/** The saved config the request will use, by name only: it is compiled later. */
function configSlug(exchange: Exchange): string | undefined {
  const { bundle, key, arrival } = exchange;
  const { caller } = arrival;
  const configs = bundle?.configs;
  if (caller.config !== undefined) {
    if (isInlineConfig(caller.config)) return undefined;
    // Callers may name it by its id; conditions of policies name slugs.
    return configs?.get(caller.config)?.slug ?? caller.config;
  }
  return (
    configs?.get(key?.source.configSlug ?? '')?.slug ??
    configs?.get(bundle?.source.defaultConfigSlug ?? '')?.slug
  );
}
