import type { AuthRecipe, EndpointEntry, ProviderEntry, ReadSetting } from './contract.ts';
import { compact } from './json/json-access.ts';
import type { SettingName } from './setting-kinds.ts';
import { readSettings } from './settings.ts';

/** What a provider wants, as it is stored or as the caller sent it. */
export interface ProviderCredential {
  apiKey: string;
  configurations: Readonly<Record<string, unknown>>;
}

const servicePrefix = 'x-service-';

/** Put together once: a name that is made anew has to be found among all names before anything is looked up by it. */
const prefixedNames = new Map<string, string>();

function prefixed(name: string): string {
  const known = prefixedNames.get(name);
  if (known !== undefined) return known;
  const whole = servicePrefix + name;
  prefixedNames.set(name, whole);
  return whole;
}

/**
 * The headers that this provider's requests carry beyond the body's own: fixed
 * ones, those of the caller that travel on, those the credential configures,
 * and the authorisation where it is only a header. Later ones win. Names are
 * lower case.
 */
export function authHeaders(
  provider: ProviderEntry,
  credential: ProviderCredential,
  callerHeaders: Readonly<Record<string, string | string[] | undefined>>,
  entry?: EndpointEntry,
): Record<string, string> {
  const headers: Record<string, string> = { ...provider.headers, ...entry?.headers };
  for (const name of provider.callerHeaders ?? []) {
    const value = travellingHeader(provider, callerHeaders, name);
    if (value !== undefined) headers[name] = value;
  }
  for (const name in provider.configurationHeaders) {
    const value = credential.configurations[provider.configurationHeaders[name] as string];
    if (typeof value === 'string' && value !== '') headers[name] = value;
  }
  const recipe = entry?.auth ?? provider.auth;
  const setting = readSettings(provider, credential.configurations, callerHeaders);
  for (const name in provider.settingHeaders) {
    const value = setting(provider.settingHeaders[name] as SettingName);
    if (value !== undefined) headers[name] = value;
  }
  return Object.assign(headers, keyHeaders(recipe, credential.apiKey, setting));
}

/** A header of the caller as it travels on to this provider; undefined = it does not. */
export function travellingHeader(
  provider: ProviderEntry,
  callerHeaders: Readonly<Record<string, string | string[] | undefined>>,
  name: SettingName,
): string | undefined {
  if (provider.callerHeaders?.includes(name) !== true) return undefined;
  const value = callerHeaders[prefixed(name)] ?? callerHeaders[name];
  return value === undefined || value === '' ? undefined : String(value);
}

/** Self-hosted servers often want no key: an empty one is not sent. */
function keyHeaders(
  recipe: AuthRecipe,
  apiKey: string,
  setting: ReadSetting,
): Record<string, string> {
  if (recipe.type === 'headers')
    return compact(recipe.make(apiKey, setting)) as Record<string, string>;
  if (apiKey === '') return {};
  switch (recipe.type) {
    case 'bearer':
      return { authorization: `${recipe.scheme ?? 'Bearer'} ${apiKey}` };
    case 'header':
      return { [recipe.header]: apiKey };
    case 'basic': {
      const pair = `${apiKey}:${setting(recipe.secretSetting) ?? ''}`;
      return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
    }
    default:
      // Nothing is sent, or what is sent is made for each call, by the gateway.
      return {};
  }
}

/** Headers that hold lists: what a request needs is added to what the caller asked for. */
const lists = new Set(['anthropic-beta']);

/** Adds the headers of an encoded request (`EncodedRequest.headers`) to those of `authHeaders`. */
export function withRequestHeaders(
  headers: Record<string, string | string[]>,
  requestHeaders: Readonly<Record<string, string>> | undefined,
): Record<string, string | string[]> {
  if (requestHeaders === undefined) return headers;
  const result = { ...headers };
  for (const name in requestHeaders) {
    const value = requestHeaders[name] as string;
    const present = result[name];
    result[name] =
      lists.has(name) && present !== undefined ? joined(String(present), value) : value;
  }
  return result;
}

function joined(first: string, second: string): string {
  const entries = `${first},${second}`.split(',').map((entry) => entry.trim());
  return [...new Set(entries)].join(',');
}
