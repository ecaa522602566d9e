/**
 * How the service's own headers are spelled. Inside, they are `x-service-…`;
 * a setting may give them another prefix, and further prefixes as aliases, so
 * that clients written for another gateway's names work unchanged. Only the
 * edges rename: on arrival to the spelling used inside, on the way out to the
 * caller's. With the default nothing is looked at and nothing is copied.
 */
export const canonicalPrefix = 'x-service-';

/**
 * On an admin call: `true` = fields and parameters that nobody knows are left out with a warning, as clients that were
 * written for the published description expect; `false` = they are refused. Unset, callers that use a prefix alias are
 * such clients.
 */
export const lenientInputHeader = 'x-service-lenient-input';

/** Which prefixes are ours. Made once, by `headerPrefixes`. */
export interface HeaderPrefixes {
  /** The main one first, then the aliases in the order of the setting. */
  readonly all: readonly string[];
  /** True when there is only `x-service-`: headers are taken and sent as they are. */
  readonly isCanonical: boolean;
  /** For callers who use no alias. */
  readonly mainSpelling: HeaderSpelling;
  /** Finds our prefixes at the beginning of names in a list; undefined when there is nothing to find. */
  readonly inLists: RegExp | undefined;
}

/** What one request used. */
export interface HeaderSpelling {
  /** The prefix that messages name. */
  readonly named: string;
  /** The prefixes replies are sent under: the main one, and each alias the request used. */
  readonly replied: readonly string[];
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** @throws Error naming the setting that is wrong */
export function headerPrefixes(
  main: string = canonicalPrefix,
  aliases: readonly string[] = [],
): HeaderPrefixes {
  const all = [main, ...aliases];
  for (const [index, prefix] of all.entries()) {
    const setting = index === 0 ? 'HEADER_PREFIX' : 'HEADER_PREFIX_ALIASES';
    const fault = faultOf(prefix, [canonicalPrefix, ...all.slice(0, index)]);
    if (fault !== undefined) throw new Error(`${setting}: "${prefix}" ${fault}`);
  }
  const others = all.filter((prefix) => prefix !== canonicalPrefix);
  return {
    all,
    isCanonical: others.length === 0,
    mainSpelling: { named: main, replied: [main] },
    inLists:
      others.length === 0 ? undefined : new RegExp(`(?<![\\w-])(?:${others.join('|')})`, 'gi'),
  };
}

function faultOf(prefix: string, earlier: readonly string[]): string | undefined {
  if (!/^[a-z][a-z0-9-]{0,62}-$/.test(prefix))
    return 'must be lower-case letters, digits and hyphens, ending in a hyphen';
  const taken = otherHeaders.find((name) => name.startsWith(prefix));
  if (taken !== undefined) return `would take the header ${taken} for one of ours`;
  for (const [index, other] of earlier.entries()) {
    // The first of them is `x-service-` itself, which may be chosen, once.
    if (prefix === other && index === 0 && !earlier.includes(other, 1)) continue;
    if (other.startsWith(prefix) || prefix.startsWith(other)) return `overlaps with "${other}"`;
  }
  return undefined;
}

/** One name of each family that belongs to HTTP, to proxies or to providers. */
const otherHeaders: readonly string[] = [
  'accept-encoding',
  'access-control-allow-origin',
  'alt-svc',
  'anthropic-version',
  'anthropic-beta',
  'api-key',
  'authorization',
  'cache-control',
  'cf-ray',
  'content-type',
  'cross-origin-opener-policy',
  'if-none-match',
  'keep-alive',
  'last-modified',
  'max-forwards',
  'openai-organization',
  'proxy-authorization',
  'retry-after',
  'sec-fetch-mode',
  'set-cookie',
  'strict-transport-security',
  'transfer-encoding',
  'user-agent',
  'www-authenticate',
  'x-amz-date',
  'x-api-key',
  'x-aws-ec2-metadata-token',
  'x-content-type-options',
  'x-forwarded-for',
  'x-goog-api-key',
  'x-google-metadata-request',
  'x-ratelimit-limit-requests',
  'x-real-ip',
  'x-request-id',
  'x-should-retry',
  'x-stainless-lang',
];

/** The setting's default. */
export const canonicalHeaderPrefixes: HeaderPrefixes = headerPrefixes();

/**
 * The prefixes of a service that gateways forward to. They rename before they
 * do: `x-service-` is understood there whatever the setting, and others beside it.
 */
export function headerPrefixesBehindGateway(setting: HeaderPrefixes): HeaderPrefixes {
  return headerPrefixes(
    canonicalPrefix,
    setting.all.filter((prefix) => prefix !== canonicalPrefix),
  );
}

/** Headers whose value is a list of header names. */
const listHeaders = ['forward-headers', 'sensitive-headers'].map(
  (name) => `${canonicalPrefix}${name}`,
);

/**
 * The headers of a request under the names used inside. Where one was sent
 * under several prefixes the main one counts, then the aliases in their order.
 * Names with `x-service-` are nobody's where that is neither the prefix nor an
 * alias: they are left out, since no later code could tell them from ours.
 * Returns its argument when there is nothing to rename.
 */
export function canonicalHeaders<T extends Headers>(prefixes: HeaderPrefixes, headers: T): T {
  if (prefixes.isCanonical || !needsRenaming(prefixes, headers)) return headers;
  const renamed: Record<string, string | string[] | undefined> = {};
  for (const name in headers)
    if (prefixOf(prefixes, name) === undefined && !name.startsWith(canonicalPrefix))
      renamed[name] = headers[name];
  for (const prefix of prefixes.all)
    for (const name in headers)
      if (name.startsWith(prefix))
        renamed[`${canonicalPrefix}${name.slice(prefix.length)}`] ??= headers[name];
  for (const name of listHeaders) {
    const value = renamed[name];
    if (typeof value === 'string' && prefixes.inLists !== undefined)
      renamed[name] = value.replace(prefixes.inLists, canonicalPrefix);
  }
  return renamed as T;
}

/** Where `x-service-` itself is the prefix, a request may use no other. */
function needsRenaming(prefixes: HeaderPrefixes, headers: Headers): boolean {
  const ownsCanonical = prefixes.all.includes(canonicalPrefix);
  for (const name in headers) {
    const prefix = prefixOf(prefixes, name);
    if (prefix !== undefined && prefix !== canonicalPrefix) return true;
    if (!ownsCanonical && name.startsWith(canonicalPrefix)) return true;
    if (listHeaders.includes(name)) return true;
  }
  return false;
}

function prefixOf(prefixes: HeaderPrefixes, name: string): string | undefined {
  for (const prefix of prefixes.all) if (name.startsWith(prefix)) return prefix;
  return undefined;
}

/**
 * How a request spelled our headers. Replies use the main prefix and each
 * alias among them; messages name the main prefix, unless the request used
 * aliases only: then the first of those, in the order of the setting.
 */
export function spellingOf(prefixes: HeaderPrefixes, headers: Headers): HeaderSpelling {
  if (prefixes.isCanonical) return prefixes.mainSpelling;
  const used = new Set<string>();
  for (const name in headers) {
    const prefix = prefixOf(prefixes, name);
    if (prefix !== undefined) used.add(prefix);
  }
  const [main = canonicalPrefix, ...aliases] = prefixes.all;
  const usedAliases = aliases.filter((alias) => used.has(alias));
  const [first] = usedAliases;
  if (first === undefined) return prefixes.mainSpelling;
  return { named: used.has(main) ? main : first, replied: [main, ...usedAliases] };
}

/**
 * The headers of a reply as the caller spells them. What an upstream sent
 * under a prefix of ours is left out: it would be taken for said by us.
 */
export function spelledHeaders<V extends string | string[] | number>(
  prefixes: HeaderPrefixes,
  spelling: HeaderSpelling,
  headers: Readonly<Record<string, V>>,
): Readonly<Record<string, V>> {
  if (prefixes.isCanonical) return headers;
  const spelled: Record<string, V> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(canonicalPrefix)) {
      const rest = name.slice(canonicalPrefix.length);
      for (const prefix of spelling.replied) spelled[`${prefix}${rest}`] = value;
    } else if (prefixOf(prefixes, name) === undefined) spelled[name] = value;
  }
  return spelled;
}

/** A message with our headers named as the caller spells them. */
export function spelledText(spelling: HeaderSpelling, text: string): string {
  return spelling.named === canonicalPrefix
    ? text
    : text.replaceAll(canonicalPrefix, spelling.named);
}
