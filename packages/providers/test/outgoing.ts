import { GatewayError } from '@sluice/errors';
import { baseUrlOf, pathOf } from '../src/address.ts';
import { authHeaders, withRequestHeaders } from '../src/auth-headers.ts';
import type { EndpointEntry, ProviderEntry, Translation } from '../src/contract.ts';
import { readSettings } from '../src/settings.ts';
import { findTranslation, isChoice } from '../src/translation/find-translation.ts';
import { contextFor } from './fixtures.ts';
import type { ProviderCall, ProviderFixture } from './provider-fixtures.ts';

/** What a call of a fixture makes of itself, in the fixture's own words. */
export function outgoing(
  provider: ProviderEntry,
  fixture: ProviderFixture,
  call: ProviderCall,
): ProviderCall['expect'] {
  const configurations = call.configurations ?? {};
  const callerHeaders = call.callerHeaders ?? {};
  const context = contextFor(provider, true, {
    model: call.model ?? 'model-1',
    setting: readSettings(provider, configurations, callerHeaders),
    request: call.body ?? {},
    ...(call.proxyPath === undefined ? {} : { proxyPath: call.proxyPath }),
  });
  let wire: Translation | undefined;
  let entry: EndpointEntry | undefined;
  let result: ProviderCall['expect'] = {};
  try {
    if (call.endpoint === 'proxy') entry = proxyEntry(provider);
    else {
      wire = findTranslation(provider, call.endpoint, context);
      entry = wire.entry;
    }
    const path = entry === undefined ? (call.proxyPath ?? '') : pathOf(entry, context);
    result.url = baseUrlOf(provider, entry, context) + path;
  } catch (error) {
    result = { error: error instanceof GatewayError ? error.code : String(error) };
  }
  const encoded = call.body === undefined ? undefined : wire?.encode(call.body, context);
  const own = authHeaders(
    provider,
    { apiKey: fixture.apiKey, configurations },
    callerHeaders,
    entry,
  );
  return {
    ...result,
    method: entry?.method ?? 'POST',
    headers: withRequestHeaders(own, encoded?.headers) as Record<string, string>,
    auth: { ...(entry?.auth ?? provider.auth) } as never,
    ...(encoded?.body === undefined ? {} : { body: encoded.body }),
    dropped: encoded?.dropped ?? [],
  };
}

function proxyEntry(provider: ProviderEntry): EndpointEntry | undefined {
  const offered = provider.endpoints.proxy;
  return offered === undefined || isChoice(offered) ? undefined : offered;
}
