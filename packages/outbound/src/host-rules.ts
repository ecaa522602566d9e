import { isIP } from 'node:net';
import { GatewayError } from '@sluice/errors';
import { classifyAddress } from './address-ranges.ts';
import { blockedPorts, privateTopLevelLabels } from './blocked-hosts.ts';
import { isPlainName } from './host-entries.ts';
import { isNeverReachableName } from './never-reachable.ts';
import { OwnServices } from './own-services.ts';
import { type DroppedEntry, TrustedHosts } from './trusted-hosts.ts';

/**
 * Who wrote an address down. `admin`: it is saved with the workspace or the
 * organisation. `vendor`: it stands in our catalogue, or is made there of what an
 * admin saved; trusted as an admin's. `caller`: it came with a request, whole or in part.
 */
export type AddressAuthor = 'admin' | 'vendor' | 'caller';

/**
 * Which hosts the gateway may call. This file judges what is written, before
 * any look-up; `guarded-connect.ts` judges the addresses a name resolves to.
 * The raw authority is inspected because WHATWG parsing turns `2130706433`,
 * `0x7f.1`, `%31%32%37.0.0.1` and full-width digits into `127.0.0.1` first.
 */
export interface HostRules {
  /** Hosts that may be private, by who named them. */
  readonly trusted: Readonly<Record<AddressAuthor, TrustedHosts>>;
  readonly own: OwnServices;
  /** Undefined = whatever is allowed may be called, wherever it is. */
  readonly airGap: AirGap | undefined;
  /** Entries of the settings that were not taken; each is worth a line in the log. */
  readonly dropped: readonly (DroppedEntry & { readonly setting: string })[];
  readonly accepted: Readonly<Record<AddressAuthor, Map<string, CheckedUrl>>>;
}

/** The object is shared between requests: read it, never change it. */
export interface CheckedUrl {
  readonly url: Readonly<URL>;
  readonly trusted: boolean;
}

/** What an installation without a way out calls. */
export interface AirGap {
  readonly hosts: TrustedHosts;
  /** Admins name no further ones. */
  readonly isClosed: boolean;
}

export interface AirGapSettings {
  /** `AIRGAP_HOSTS`. */
  readonly hosts: readonly string[] | undefined;
  /** Hosts outside that other settings name: they are configured, but close nothing. */
  readonly named?: readonly string[];
}

export interface HostRuleSettings {
  /** `TRUSTED_CUSTOM_HOSTS`: of admins' addresses; `undefined` = not set. A value replaces the defaults. */
  trusted: readonly string[] | undefined;
  /** `TRUSTED_CALLER_HOSTS`: of callers' addresses, and of admins' as well. */
  trustedForCallers?: readonly string[] | undefined;
  production: boolean;
  /** `OWN_HOSTS`: where this installation can be reached, by its public names. */
  ownHosts?: readonly string[];
  /** Addresses of its parts as their settings have them: `host:port` or URLs. */
  ownParts?: readonly (string | undefined)[];
  /** With `AIRGAP`. */
  airGap?: AirGapSettings | undefined;
}

const urlLengthMax = 2048;
const acceptedMax = 5_000;
const developmentHosts = ['localhost', '127.0.0.1', '::1', 'host.docker.internal'];

/** As each service that calls outside has them. */
export interface HostRuleEnv {
  readonly TRUSTED_CUSTOM_HOSTS: readonly string[] | undefined;
  readonly TRUSTED_CALLER_HOSTS: readonly string[] | undefined;
  readonly NODE_ENV: string;
  readonly OWN_HOSTS: readonly string[] | undefined;
  readonly KUBERNETES_SERVICE_HOST: string | undefined;
  readonly NATS_URL: string | undefined;
  readonly AIRGAP: boolean;
  readonly AIRGAP_HOSTS: readonly string[] | undefined;
}

/** What a service's settings say; `named`: hosts outside that further settings of it name. */
export function readHostRules(
  env: HostRuleEnv,
  { ownParts, named }: { ownParts: readonly (string | undefined)[]; named?: readonly string[] },
): HostRules {
  return makeHostRules({
    trusted: env.TRUSTED_CUSTOM_HOSTS,
    trustedForCallers: env.TRUSTED_CALLER_HOSTS,
    production: env.NODE_ENV === 'production',
    ownHosts: env.OWN_HOSTS ?? [],
    ownParts: [...ownParts, ...(env.NATS_URL?.split(',') ?? []), env.KUBERNETES_SERVICE_HOST],
    airGap: env.AIRGAP ? { hosts: env.AIRGAP_HOSTS, ...(named && { named }) } : undefined,
  });
}

/** Tells of entries that were not taken. */
export function tellDropped(
  { dropped }: HostRules,
  logger: { warn(fields: object, message: string): void },
): void {
  for (const { setting, ...entry } of dropped)
    logger.warn(entry, `an entry of ${setting} is not used`);
}

/** Reads the settings once, at start. */
export function makeHostRules(settings: HostRuleSettings): HostRules {
  const { trusted, trustedForCallers, production } = settings;
  const defaults = production ? [] : developmentHosts;
  // Whoever closes the list of admins has closed the default of callers with it.
  const forCallers = trustedForCallers ?? (trusted === undefined ? defaults : []);
  const caller = new TrustedHosts(forCallers);
  const admin = new TrustedHosts([...(trusted ?? defaults), ...forCallers]);
  const parts = (settings.ownParts ?? []).filter((part) => part !== undefined);
  const own = new OwnServices(settings.ownHosts ?? [], parts);
  const from = (setting: string, dropped: readonly DroppedEntry[]) =>
    dropped.map((entry) => ({ setting, ...entry }));
  const { airGap } = settings;
  return {
    trusted: { admin, vendor: admin, caller },
    own,
    airGap: airGap && {
      hosts: new TrustedHosts([...(airGap.hosts ?? []), ...(airGap.named ?? [])]),
      isClosed: airGap.hosts !== undefined,
    },
    dropped: [
      ...from('TRUSTED_CUSTOM_HOSTS', new TrustedHosts(trusted ?? []).dropped),
      ...from('TRUSTED_CALLER_HOSTS', caller.dropped),
      ...from('OWN_HOSTS', own.dropped),
      ...from('AIRGAP_HOSTS', new TrustedHosts(airGap?.hosts ?? []).dropped),
    ],
    accepted: { admin: new Map(), vendor: new Map(), caller: new Map() },
  };
}

/**
 * Checks a base URL as somebody wrote it.
 * @param field where it was written, for the error: `x-service-custom-host`, `targets[0].custom_host` …
 * @param by whose list of trusted hosts counts; who does not say is trusted least
 * @throws GatewayError `host.invalid`
 */
export function checkUpstreamUrl(
  raw: string,
  rules: HostRules,
  field = 'custom_host',
  by: AddressAuthor = 'caller',
): CheckedUrl {
  const accepted = rules.accepted[by];
  const known = accepted.get(raw);
  if (known !== undefined) return known;
  const checked = check(raw, rules, field, by);
  if (raw.length > urlLengthMax) return checked; // Padded with white space: not worth its memory.
  // Oldest out: callers repeat a few hosts, and a stranger's flood of new ones costs only re-checks.
  if (accepted.size >= acceptedMax) accepted.delete(accepted.keys().next().value!);
  accepted.set(raw, checked);
  return checked;
}

/** Whether a connection may be opened to this address. `trusted` is about the host that was asked for, not the address. */
export function isAddressAllowed(ip: string, { trusted }: { trusted: boolean }): boolean {
  const kind = classifyAddress(ip);
  return kind === 'public' || (kind === 'private' && trusted);
}

/**
 * The part of the check that needs no raw text, for hosts that are already
 * parsed: everything that is about to be connected to passes through here.
 * @throws GatewayError `host.invalid`
 */
export function checkHostAndPort(
  host: string,
  port: number,
  rules: HostRules,
  field = 'custom_host',
  by: AddressAuthor = 'caller',
): { trusted: boolean } {
  const isAddress = isIP(host) !== 0;
  if (!isAddress && !isPlainName(host))
    throw refuse(field, 'The host is not a plain name or address.');
  if (blockedPorts.has(port) || port < 1 || port > 65_535)
    throw refuse(field, 'The port is not allowed.');
  const trusted = rules.trusted[by].hasHost(host, port);
  if (isAddress) {
    if (!isAddressAllowed(host, { trusted })) throw refuse(field, 'The address is not allowed.');
    if (rules.own.hasAddress(host, port)) throw isOwn(field);
    expectWithinGap({ host, port, by, trusted }, rules.airGap, field);
    return { trusted };
  }
  if (isNeverReachableName(host)) throw refuse(field, 'The host is not allowed.');
  if (!trusted && privateTopLevelLabels.has(host.slice(host.lastIndexOf('.') + 1))) {
    const list = by === 'caller' ? 'TRUSTED_CALLER_HOSTS' : 'TRUSTED_CUSTOM_HOSTS';
    throw refuse(
      field,
      `The host belongs to a private domain; an operator can list it in ${list}.`,
    );
  }
  if (rules.own.hasHost(host, port)) throw isOwn(field);
  expectWithinGap({ host, port, by, trusted }, rules.airGap, field);
  return { trusted };
}

/** Judged by what is written: a name beyond the gap is not even looked up. */
function expectWithinGap(
  { host, port, by, trusted }: { host: string; port: number; by: AddressAuthor; trusted: boolean },
  airGap: AirGap | undefined,
  field: string,
): void {
  if (airGap === undefined || trusted || airGap.hosts.hasHost(host, port)) return;
  if (by === 'admin' && !airGap.isClosed) return;
  throw new GatewayError('host.air_gapped', { field, message: beyondGap(host, by, airGap) });
}

/** Whether a vendor's own address may be called at all. */
export function isWithinGap(origin: string, { airGap }: HostRules): boolean {
  const url = new URL(origin);
  return airGap === undefined || airGap.hosts.hasHost(url.hostname, portOf(url));
}

function beyondGap(host: string, by: AddressAuthor, { isClosed }: AirGap): string {
  const beyond = `${host} is not called: this installation runs with AIRGAP=true, and`;
  if (isClosed) return `${beyond} AIRGAP_HOSTS does not list it.`;
  return by === 'vendor'
    ? `${beyond} it is a vendor's own address; name a host within as custom_host, or have it listed in AIRGAP_HOSTS.`
    : `${beyond} no admin named it; an operator can list it in AIRGAP_HOSTS or TRUSTED_CALLER_HOSTS.`;
}

/** Said only where the host itself is allowed: who may not call a host learns nothing of what stands there. */
function isOwn(field: string): GatewayError {
  return refuse(field, 'The host and port belong to this installation itself.');
}

function check(raw: string, rules: HostRules, field: string, by: AddressAuthor): CheckedUrl {
  const text = raw.trim();
  if (text === '') throw refuse(field, 'The URL is empty.');
  if (text.length > urlLengthMax)
    throw refuse(field, `The URL is longer than ${urlLengthMax} characters.`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (/[\u0000-\u0020\u007f-\u00a0\\]/.test(text))
    throw refuse(field, 'The URL contains white space, control characters or backslashes.');
  if (text.includes('@')) throw refuse(field, 'The URL must not contain credentials or "@".');
  if (text.includes('#')) throw refuse(field, 'The URL must not contain a fragment.');
  const parts = /^https?:\/\/([^/?]*)/i.exec(text);
  if (parts === null) throw refuse(field, 'The URL must begin with http:// or https://.');
  const host = hostOfAuthority(parts[1] ?? '', field);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // What was inspected must be what will be called; a difference would be a spelling not thought of.
  if (url === undefined || url.hostname !== normalisedHostname(host))
    throw refuse(field, 'The host is not written plainly.');
  return { url, ...checkHostAndPort(host, portOf(url), rules, field, by) };
}

/** The host of a raw authority, lower case, without brackets. */
function hostOfAuthority(authority: string, field: string): string {
  const parts = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::([1-9][0-9]{0,4}))?$/i.exec(authority);
  if (parts === null)
    throw refuse(
      field,
      'The host may have only letters, digits, dots and hyphens, and a plain port.',
    );
  const host = (parts[1] ?? '').toLowerCase();
  if (host.startsWith('[')) {
    const address = host.slice(1, -1);
    if (isIP(address) !== 6) throw refuse(field, 'The IPv6 address is not valid.');
    return address;
  }
  return host;
}

/** As WHATWG parsing writes it: IPv6 compressed and in brackets. */
function normalisedHostname(host: string): string {
  return host.includes(':') ? new URL(`http://[${host}]`).hostname : host;
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

function refuse(field: string, message: string): GatewayError {
  return new GatewayError('host.invalid', { field, message });
}
