/** Headers as they may be kept: ours apart from the others. */
export interface ShownHeaders {
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceHeaders: Readonly<Record<string, string>>;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const masked = '[masked]';

/**
 * Credentials are masked whatever anybody says. What is named as sensitive is
 * hashed: equal values are seen to be equal, and none can be read. Of our own
 * headers only those that cannot hold a secret are shown.
 * @param sensitive  names in lower case
 * @param hash  keyed, so that short values cannot be guessed
 */
export function shownHeaders(
  headers: Headers,
  sensitive: ReadonlySet<string>,
  hash: (value: string) => string,
): ShownHeaders {
  const shown: Record<string, string> = {};
  const serviceHeaders: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined) continue;
    const treatment = treatmentOf(name);
    const text = typeof value === 'string' ? value : value.join(', ');
    const to = treatment.isOurs ? serviceHeaders : shown;
    if (treatment.isMasked) to[name] = masked;
    else if (sensitive.size > 0 && sensitive.has(name)) to[name] = hash(text);
    else if (treatment.isConfig && !isSlug(text)) to[name] = masked;
    else to[name] = text;
  }
  return { headers: shown, serviceHeaders };
}

interface Treatment {
  readonly isOurs: boolean;
  readonly isMasked: boolean;
  /** May be the name of a saved config, or one with credentials in it. */
  readonly isConfig: boolean;
}

/** Names come again and again; those that callers make up do not fill the memory. */
const known = new Map<string, Treatment>();
const knownMax = 1_000;

function treatmentOf(name: string): Treatment {
  const found = known.get(name);
  if (found !== undefined) return found;
  const isOurs = name.startsWith(prefix);
  const made: Treatment = {
    isOurs,
    isMasked: isOurs
      ? !shownOfOurs.has(name.slice(prefix.length))
      : credentialWords.test(name) || withoutBoundaries.has(name),
    isConfig: name === `${prefix}config`,
  };
  if (known.size < knownMax) known.set(name, made);
  return made;
}

const prefix = 'x-service-';

/** What is neither a credential nor a setting of a provider, which may be one. */
const shownOfOurs: ReadonlySet<string> = new Set([
  'attempts',
  'beta',
  'cache-force-refresh',
  'cache-namespace',
  'cache-status',
  'config',
  'cost',
  'debug',
  'dropped-params',
  'forward-headers',
  'gateway-exception',
  'ignored-config',
  'last-used-option-index',
  'max-cost',
  'metadata',
  'parent-span-id',
  'provider',
  'provider-slug',
  'request-id',
  'request-timeout',
  'retry-attempt-count',
  'routing-stopped',
  'sensitive-headers',
  'span-id',
  'span-name',
  'strict-open-ai-compliance',
  'strict-openai-compliance',
  'strict-params',
  'trace-id',
  'upstream-request-id',
  'virtual-key',
]);

const credentialWords =
  /(?:^|[-_.])(?:auth|authorization|authentication|cookie2?|token|secret|password|passwd|credentials?|signature|assertion|jwt|session|key|apikey)(?:$|[-_.])/;

/** Names that are one word. */
const withoutBoundaries: ReadonlySet<string> = new Set(['x-apikey', 'xapikey', 'accesstoken']);

function isSlug(text: string): boolean {
  return /^[\w@.-]{1,128}$/.test(text);
}
