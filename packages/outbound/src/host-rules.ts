import { isIP } from 'node:net';
import { GatewayError } from '@sluice/errors';
import { classifyAddress, parseIpv4, parseIpv6 } from './address-ranges.ts';
import {
  alwaysBlockedNames,
  alwaysBlockedSuffixes,
  blockedPorts,
  privateTopLevelLabels,
} from './blocked-hosts.ts';

/**
 * Which hosts the gateway may call. This file judges what is written, before
 * any look-up; `guarded-connect.ts` judges the addresses a name resolves to.
 * The raw authority is inspected because WHATWG parsing turns `2130706433`,
 * `0x7f.1`, `%31%32%37.0.0.1` and full-width digits into `127.0.0.1` first.
 */
export interface HostRules {
  /** Trusted names; a subdomain of one is trusted too. */
  readonly trustedNames: ReadonlySet<string>;
  /** Trusted addresses as numbers, so that `::1` and `0:0:0:0:0:0:0:1` are one. */
  readonly trustedAddresses: ReadonlySet<number | bigint>;
  /** The gateway's own hosts, as `host` or `host:port`. */
  readonly ownHosts: ReadonlySet<string>;
  /** Entries of the trusted list that were not taken; worth a line in the log. */
  readonly droppedTrusted: readonly string[];
  readonly accepted: Map<string, CheckedUrl>;
}

/** The object is shared between requests: read it, never change it. */
export interface CheckedUrl {
  readonly url: Readonly<URL>;
  readonly trusted: boolean;
}

export interface HostRuleSettings {
  /** `TRUSTED_CUSTOM_HOSTS`; `undefined` = not set. A value replaces the defaults. */
  trusted: readonly string[] | undefined;
  production: boolean;
  /** Where the gateway itself can be reached, as `host` or `host:port`. */
  ownHosts?: readonly string[];
}

const urlLengthMax = 2048;
const labelsMax = 10;
const labelLengthMax = 63;
const acceptedMax = 5_000;
const developmentHosts = ['localhost', '127.0.0.1', '::1', 'host.docker.internal'];

/** Reads the settings once, at start. */
export function makeHostRules(settings: HostRuleSettings): HostRules {
  const names = new Set<string>();
  const addresses = new Set<number | bigint>();
  const dropped: string[] = [];
  for (const entry of settings.trusted ?? (settings.production ? [] : developmentHosts)) {
    const host = trustedHostOf(entry);
    if (host === undefined) dropped.push(entry);
    else if (isIP(host) === 0) names.add(host);
    else addresses.add(addressNumber(host)!);
  }
  return {
    trustedNames: names,
    trustedAddresses: addresses,
    ownHosts: new Set((settings.ownHosts ?? []).map(ownHostKey)),
    droppedTrusted: dropped,
    accepted: new Map(),
  };
}

/**
 * Checks a base URL as somebody wrote it.
 * @param field where it was written, for the error: `x-service-custom-host`, `targets[0].custom_host` …
 * @throws GatewayError `host.invalid`
 */
export function checkUpstreamUrl(raw: string, rules: HostRules, field = 'custom_host'): CheckedUrl {
  const known = rules.accepted.get(raw);
  if (known !== undefined) return known;
  const checked = check(raw, rules, field);
  if (raw.length > urlLengthMax) return checked; // Padded with white space: not worth its memory.
  // Oldest out: callers repeat a few hosts, and a stranger's flood of new ones costs only re-checks.
  if (rules.accepted.size >= acceptedMax)
    rules.accepted.delete(rules.accepted.keys().next().value!);
  rules.accepted.set(raw, checked);
  return checked;
}

/** Whether a host, without brackets and port, is on the trusted list. */
export function isTrustedHost(host: string, rules: HostRules): boolean {
  const address = addressNumber(host);
  if (address !== undefined) return rules.trustedAddresses.has(address);
  return parents(host).some((name) => rules.trustedNames.has(name));
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
): { trusted: boolean } {
  const isAddress = isIP(host) !== 0;
  if (!isAddress && !isPlainName(host))
    throw refuse(field, 'The host is not a plain name or address.');
  const trusted = isTrustedHost(host, rules);
  if (blockedPorts.has(port) || port < 1 || port > 65_535)
    throw refuse(field, 'The port is not allowed.');
  if (rules.ownHosts.has(host) || rules.ownHosts.has(ownHostKey(`${bracketed(host)}:${port}`))) {
    throw refuse(field, 'The host is this gateway itself.');
  }
  if (isAddress) {
    if (!isAddressAllowed(host, { trusted })) throw refuse(field, 'The address is not allowed.');
    return { trusted };
  }
  if (isAlwaysBlockedName(host)) throw refuse(field, 'The host is not allowed.');
  if (!trusted && privateTopLevelLabels.has(host.slice(host.lastIndexOf('.') + 1))) {
    throw refuse(
      field,
      'The host belongs to a private domain; an operator can list it in TRUSTED_CUSTOM_HOSTS.',
    );
  }
  return { trusted };
}

function check(raw: string, rules: HostRules, field: string): CheckedUrl {
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
  return { url, ...checkHostAndPort(host, portOf(url), rules, field) };
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

/** A name that no parser reads as an address: its last label is not a number, and no label is punycode. */
function isPlainName(host: string): boolean {
  const labels = host.split('.');
  if (labels.length > labelsMax) return false;
  if (
    !labels.every(
      (label) => label !== '' && label.length <= labelLengthMax && !label.startsWith('xn--'),
    )
  )
    return false;
  return !/^(?:[0-9]+|0x[0-9a-f]*)$/.test(labels.at(-1)!);
}

function isAlwaysBlockedName(host: string): boolean {
  return (
    alwaysBlockedNames.has(host) ||
    alwaysBlockedSuffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`))
  );
}

/** `a.b.c` → `a.b.c`, `b.c`, `c`. */
function parents(host: string): string[] {
  const labels = host.split('.');
  return labels.map((_, index) => labels.slice(index).join('.'));
}

/** The host of an entry of TRUSTED_CUSTOM_HOSTS (host, `*.host`, address or URL), or `undefined` if it cannot be trusted. */
function trustedHostOf(entry: string): string | undefined {
  const text = entry.trim().toLowerCase();
  const isUrl = /^https?:\/\//.test(text);
  // `10.0.0.0/8` would read as the one address 10.0.0.0; a range is better dropped than narrowed unseen.
  if (!isUrl && text.includes('/')) return undefined;
  const wildcard = text.startsWith('*.');
  const authority = isUrl
    ? text.replace(/^https?:\/\//, '').replace(/[/?#].*$/, '')
    : wildcard
      ? text.slice(2)
      : text;
  const host =
    isIP(authority) === 6
      ? authority
      : authority.replace(/:[0-9]{1,5}$/, '').replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) !== 0) return wildcard || classifyAddress(host) === 'metadata' ? undefined : host;
  if (!/^[a-z0-9.-]+$/.test(host) || !isPlainName(host) || isAlwaysBlockedName(host))
    return undefined;
  return host;
}

/** Loopback has many names; with a port they are all the same door. */
function ownHostKey(entry: string): string {
  const parts = /^(?:\[(.+)\]|([^:]+)):([0-9]+)$/.exec(entry.toLowerCase());
  if (parts === null) return entry.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  const host = parts[1] ?? parts[2] ?? '';
  const loopback =
    host === '::1' ||
    host.startsWith('127.') ||
    host === 'localhost' ||
    host.endsWith('.localhost');
  return `${loopback ? 'loopback' : host}:${parts[3]}`;
}

function addressNumber(host: string): number | bigint | undefined {
  return parseIpv4(host) ?? parseIpv6(host);
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
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
