import type { AuthRecipe, ReadSetting } from './call-facts.ts';
import type { EndpointEntry, ProviderEntry } from './contract.ts';
import { compact } from './json/json-access.ts';
import { isSettingList, type SettingName } from './setting-kinds.ts';
import { joinedLists, readSettings } from './settings.ts';

/** What a provider wants, as it is stored or as the caller sent it. */
export interface ProviderCredential {
  apiKey: string;
  configurations: Readonly<Record<string, unknown>>;
}

/**
 * The headers that this provider's requests carry beyond the body's own: fixed
 * ones, those that the credential configures or the caller sends along,
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
  const setting = readSettings(provider, credential.configurations, callerHeaders);
  for (const name of provider.callerHeaders ?? []) {
    const value = setting(name);
    if (value !== undefined) headers[name] = value;
  }
  for (const name in provider.settingHeaders) {
    const value = setting(provider.settingHeaders[name] as SettingName);
    if (value !== undefined) headers[name] = value;
  }
  const recipe = entry?.auth ?? provider.auth;
  return Object.assign(headers, keyHeaders(recipe, credential.apiKey, setting));
}

/** A header that travels on to this provider, as it does; undefined = nobody says it. */
export function travellingHeader(
  provider: ProviderEntry,
  setting: ReadSetting,
  name: SettingName,
): string | undefined {
  return provider.callerHeaders?.includes(name) === true ? setting(name) : undefined;
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

/** Adds the headers of an encoded request (`EncodedRequest.headers`) to those of `authHeaders`: of a list, to what is there. */
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
      isSettingList(name) && present !== undefined ? joinedLists(String(present), value) : value;
  }
  return result;
}
