/**
 * The one rule for credentials: either all of credential, address, role, scope,
 * region, account and deployment are an admin's, or none of the credential is.
 *
 * An admin's is what is saved: provider, model, config. A caller's is what comes
 * with the request: headers, an inline config, the body. Where anything saved is
 * a secret, or makes one, the target's credential is stored, and what the caller
 * adds to it is refused here, before an address is made. All adapters and all
 * recipes of authorisation get their settings from here and from nowhere else.
 */
import type { Author, ResolvedTarget } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import type { config } from '@sluice/proto-stubs';
import {
  accountHeaders,
  type DeclaredSetting,
  declaredSettings,
  isPlain,
  type ProviderEntry,
  proofHeaders,
  type ReadSetting,
  readSettings,
  type SettingKind,
  settingKind,
} from '@sluice/providers';
import { coveredBy, isSameAddress } from '../../compiled/allowed-hosts.ts';
import { lowerCased, type SavedProvider } from '../../compiled/compiled-bundle.ts';
import { holdsCredential, nameOf } from '../../compiled/holds-credential.ts';
import type { ModelExchange } from '../../exchange/exchange.ts';
import type { CustomHost, SettingHeaders, Settled } from '../../exchange/target.ts';

/** Who serves the target, and who said so. */
export interface Named {
  entry: ProviderEntry;
  saved: SavedProvider | undefined;
  by: Author;
  field: string;
}

interface NamedWithModel extends Named {
  /** What admins say of the model. */
  modelRow: config.Model | undefined;
}

/** What is known before the model is; the address may be the model's. */
export type SettledSettings = Pick<
  Settled,
  'credentialBy' | 'apiKey' | 'configurations' | 'settingHeaders' | 'setting' | 'forwardHeaders'
>;

/** @throws GatewayError `credential.mixed` */
export function settleSettings(
  exchange: ModelExchange,
  planned: ResolvedTarget,
  named: Named,
): SettledSettings {
  return isStored(planned, named)
    ? storedSettings(exchange, planned, named)
    : callersSettings(exchange, planned, named);
}

/** @throws GatewayError `host.not_allowed` */
export function settleAddress(
  exchange: ModelExchange,
  planned: ResolvedTarget,
  named: NamedWithModel,
  settings: SettledSettings,
): Settled {
  const { entry, saved, modelRow } = named;
  const isStored = settings.credentialBy === 'admin';
  const customHost = isStored
    ? storedHost(exchange, planned, named)
    : hostOf(exchange, planned, named);
  const isAtAdmins = customHost?.by !== 'caller';
  const customHeaders = customHeadersOf(saved, modelRow);
  const adds = !isStored && callerAdds(entry, planned, settings.settingHeaders);
  const isLent = isAtAdmins && !adds;
  return {
    ...settings,
    savedSetting:
      saved !== undefined && isLent
        ? readSettings(entry, saved.configurations, noHeaders)
        : undefined,
    customHeaders,
    customHost,
    callerAdds: adds,
    tls: isAtAdmins ? saved?.tls : undefined,
    forwardHeaders:
      isStored && isCallersList(exchange, planned)
        ? settings.forwardHeaders?.filter((name) => customHeaders[name] === undefined)
        : settings.forwardHeaders,
  };
}

/** Where the request names a host, whoever may vouch for it; undefined = it names none that counts. */
export function callersHostField(
  { arrival: { caller } }: ModelExchange,
  planned: ResolvedTarget,
): string | undefined {
  if (caller.customHost !== undefined) return callersHostHeader;
  return planned.customHost !== undefined && planned.customHostBy === 'caller'
    ? `${planned.path}.custom_host`
    : undefined;
}

const callersHostHeader = 'x-service-custom-host';

function isStored(planned: ResolvedTarget, { saved }: Named): boolean {
  if (saved?.holdsCredential === true) return true;
  const { by, apiKey, configurations } = planned;
  return by === 'admin' && (apiKey !== undefined || holdsCredential(configurations));
}

/** Nothing secret is saved: the request may say all of it. */
function callersSettings(
  exchange: ModelExchange,
  planned: ResolvedTarget,
  { entry, saved }: Named,
): SettledSettings {
  const settingHeaders = exchange.isSavedOnly
    ? protocolHeaders(exchange, entry)
    : exchange.arrival.headers;
  const configurations = merged(saved?.configurations, planned.configurations);
  return {
    credentialBy: 'caller',
    apiKey: planned.apiKey ?? saved?.apiKey ?? exchange.arrival.caller.upstreamKey ?? '',
    configurations,
    settingHeaders,
    setting: readSettings(entry, configurations, settingHeaders),
    forwardHeaders: exchange.arrival.caller.forwardHeaders ?? planned.forwardHeaders,
  };
}

function storedSettings(
  exchange: ModelExchange,
  planned: ResolvedTarget,
  named: Named,
): SettledSettings {
  const { entry, saved } = named;
  const isAdmins = planned.by === 'admin';
  if (isAdmins && saved === undefined && named.by === 'caller')
    throw mixed(named.field, 'names the provider', whoseIs(saved));
  const admins = merged(saved?.configurations, isAdmins ? planned.configurations : undefined);
  const configurations = isAdmins ? admins : withOptions(admins, planned, saved);
  const settingHeaders = allowedHeaders(exchange, named, readSettings(entry, admins, noHeaders));
  return {
    credentialBy: 'admin',
    apiKey: (isAdmins ? planned.apiKey : undefined) ?? saved?.apiKey ?? '',
    configurations,
    settingHeaders,
    setting: readSettings(entry, configurations, settingHeaders),
    forwardHeaders: storedForwards(exchange, planned, named),
  };
}

/** An inline config may add options to a stored credential, and nothing else. */
function withOptions(
  admins: Readonly<Record<string, unknown>>,
  planned: ResolvedTarget,
  saved: SavedProvider | undefined,
): Readonly<Record<string, unknown>> {
  if (planned.apiKey !== undefined)
    throw mixed(`${planned.path}.api_key`, 'is a key', whoseIs(saved));
  for (const [key, value] of Object.entries(planned.configurations)) {
    const kind = settingKind(nameOf(key));
    if (!isPlain(kind) && value !== admins[key])
      throw mixed(`${planned.path}.${key}`, meaning(kind), whoseIs(saved));
  }
  return merged(admins, planned.configurations);
}

/**
 * Of the headers that would set something, those that may. What an admin set
 * stands whatever a header says; a header that would fill a gap is refused, and
 * in saved-only mode not heard.
 */
function allowedHeaders(
  exchange: ModelExchange,
  { entry, saved }: Named,
  admins: ReadSetting,
): SettingHeaders {
  if (exchange.isSavedOnly) return protocolHeaders(exchange, entry);
  let allowed: Record<string, string | string[]> | undefined;
  for (const setting of declaredSettings(entry)) {
    const value = sent(exchange.arrival.headers, setting);
    if (value === undefined) continue;
    if (isPlain(setting.kind)) {
      allowed ??= {};
      allowed[setting.header] = value;
    } else if (admins(setting.name) === undefined)
      throw mixed(setting.header, meaning(setting.kind), whoseIs(saved));
  }
  return allowed ?? noHeaders;
}

/** Headers of the vendor's format alone: they configure nothing of ours. */
function protocolHeaders(
  { arrival: { headers } }: ModelExchange,
  entry: ProviderEntry,
): SettingHeaders {
  let allowed: Record<string, string | string[]> | undefined;
  for (const setting of declaredSettings(entry)) {
    if (setting.kind !== 'protocol') continue;
    const value = sent(headers, setting);
    if (value === undefined) continue;
    allowed ??= {};
    allowed[setting.header] = value;
  }
  return allowed ?? noHeaders;
}

function sent(headers: SettingHeaders, { header, name, isBare }: DeclaredSetting) {
  const value = headers[header] || (isBare ? headers[name] : undefined);
  return value === '' ? undefined : value;
}

/** Whether the request says more to a provider than options. */
function callerAdds(
  entry: ProviderEntry,
  planned: ResolvedTarget,
  headers: SettingHeaders,
): boolean {
  if (planned.by === 'caller') {
    if (planned.apiKey !== undefined) return true;
    for (const key in planned.configurations) if (!isPlain(settingKind(nameOf(key)))) return true;
  }
  return declaredSettings(entry).some(
    (setting) => !isPlain(setting.kind) && sent(headers, setting) !== undefined,
  );
}

/** Request header, then config, then model, then the saved provider. */
function hostOf(
  { arrival: { caller } }: ModelExchange,
  planned: ResolvedTarget,
  named: NamedWithModel,
): CustomHost | undefined {
  if (caller.customHost !== undefined)
    return { url: caller.customHost, field: callersHostHeader, by: 'caller' };
  if (planned.customHost !== undefined) {
    const field = `${planned.path}.custom_host`;
    return { url: planned.customHost, field, by: planned.customHostBy };
  }
  return savedHost(named);
}

function savedHost({ saved, modelRow }: NamedWithModel): CustomHost | undefined {
  if (modelRow?.customHost)
    return { url: modelRow.customHost, field: 'model.custom_host', by: 'admin' };
  if (saved?.customHost)
    return { url: saved.customHost, field: `@${saved.slug}.custom_host`, by: 'admin' };
  return undefined;
}

/**
 * A caller's host beside a stored credential: one that an admin vouches for, or
 * any where the organisation decided so.
 * @throws GatewayError `host.not_allowed`
 */
function storedHost(
  exchange: ModelExchange,
  planned: ResolvedTarget,
  named: NamedWithModel,
): CustomHost | undefined {
  const host = hostOf(exchange, planned, named);
  if (host?.by !== 'caller') return host;
  const { entry, saved } = named;
  const own = savedHost(named);
  if (own !== undefined && isSameAddress(own.url, host.url)) return own;
  const { baseUrl } = entry;
  if (own === undefined && typeof baseUrl === 'string' && isSameAddress(baseUrl, host.url))
    return undefined;
  const covered = coveredBy(host.url, saved?.allowedHosts ?? []);
  if (covered !== undefined) return { url: covered, field: host.field, by: 'admin' };
  if (exchange.bundle?.source.storedCredentialsAtCallersHosts === true) return host;
  throw new GatewayError('host.not_allowed', {
    field: host.field,
    message: `${host.field} is not an address that the stored credential of ${whoseIs(saved)} may be sent to: allowed are the provider's own address and those in allowed_custom_hosts of its integration. With a key of your own, name the provider as x-service-provider: ${entry.id}.`,
  });
}

/** A caller's list of headers to forward says nothing about whose account is used. */
function storedForwards(
  exchange: ModelExchange,
  planned: ResolvedTarget,
  { entry, saved }: Named,
): readonly string[] | undefined {
  const { caller } = exchange.arrival;
  const list = caller.forwardHeaders ?? planned.forwardHeaders;
  if (list === undefined || !isCallersList(exchange, planned)) return list;
  const names = list.map((name) => name.toLowerCase());
  const account = names.find(
    (name) => accountHeaders(entry).has(name) || proofHeaders(entry).has(name),
  );
  if (account === undefined) return names;
  const field =
    caller.forwardHeaders === undefined
      ? `${planned.path}.forward_headers`
      : 'x-service-forward-headers';
  throw mixed(field, `lists ${account}, which says whose account is used`, whoseIs(saved));
}

function isCallersList({ arrival: { caller } }: ModelExchange, planned: ResolvedTarget): boolean {
  return caller.forwardHeaders !== undefined || planned.forwardHeadersBy === 'caller';
}

/**
 * Whether a header of a pass-through call stays here, since it says whose account
 * is used and the caller has no say in that.
 * @throws GatewayError `credential.mixed` for what is not silently left out
 */
export function isHeldBack(
  name: string,
  { isSavedOnly }: Pick<ModelExchange, 'isSavedOnly'>,
  {
    credentialBy,
    apiKey,
    entry,
    saved,
  }: Pick<Settled, 'credentialBy' | 'apiKey'> & Pick<Named, 'entry' | 'saved'>,
  /** What the gateway sends in place of whatever was sent. */
  own: Readonly<Record<string, string>>,
): boolean {
  const isStored = credentialBy === 'admin';
  if (!isStored && !isSavedOnly) return false;
  if (proofHeaders(entry).has(name)) return isStored && apiKey !== '';
  if (!accountHeaders(entry).has(name)) return false;
  if (isSavedOnly || own[name] !== undefined) return true;
  throw mixed(name, 'says whose account is used', whoseIs(saved));
}

function customHeadersOf(
  saved: SavedProvider | undefined,
  modelRow: config.Model | undefined,
): Readonly<Record<string, string>> {
  const ofProvider = saved?.customHeaders ?? noHeaders;
  return isEmpty(modelRow?.customHeaders)
    ? ofProvider
    : { ...ofProvider, ...lowerCased(modelRow?.customHeaders ?? {}) };
}

/** What a value of this kind says, for whoever sent it. */
function meaning(kind: SettingKind | undefined): string {
  switch (kind) {
    case 'address':
      return 'is an address';
    case 'credential':
      return 'is a part of the credential';
    case 'role':
    case 'scope':
    case 'region':
      return `says which ${kind} is used`;
    case 'storage':
      return 'says where files are kept';
    case 'deployment':
      return 'says which deployment is used';
    default:
      return 'says whose account is used';
  }
}

function whoseIs(saved: SavedProvider | undefined): string {
  return saved === undefined ? 'the config' : `"@${saved.slug}"`;
}

/** Says what it was, and never its value. */
function mixed(field: string, what: string, whose: string): GatewayError {
  return new GatewayError('credential.mixed', {
    field,
    message: `${field} ${what}, but the credential of ${whose} is stored: only an admin sets this beside it. Leave it out, or send a credential of your own with the plain name of the provider.`,
  });
}

function merged(
  under: Readonly<Record<string, unknown>> | undefined,
  over: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> {
  if (over === undefined || isEmpty(over)) return under ?? noSettings;
  return under === undefined ? over : { ...under, ...over };
}

function isEmpty(record: Readonly<Record<string, unknown>> | undefined): boolean {
  for (const _ in record) return false;
  return true;
}

const noHeaders: Readonly<Record<string, string>> = Object.freeze({});
const noSettings: Readonly<Record<string, unknown>> = Object.freeze({});
