/**
 * The JetStream stream between gateways and data-service. A message's body is
 * a `sluice.usage.v1.WriteUsageRequest`. Whoever comes first creates the
 * stream; one that exists is taken as it is, so that an operator may create it
 * with replicas of their own choice.
 */
export const usageStream = {
  name: 'SLUICE_USAGE',
  subject: 'sluice.usage.v1',
  /** The consumer that all replicas of data-service share. */
  durable: 'data-service',
  /** Kept this long, stored or not, so that the ledger can be rebuilt after a mishap. */
  maxAgeMs: 7 * 24 * 60 * 60 * 1000,
  /** How long the server remembers `Nats-Msg-Id`s; the ledger tolerates later copies. */
  duplicateWindowMs: 2 * 60 * 1000,
} as const;

/** What the server is told when the stream is made; times are nanoseconds, as JetStream has them. */
export const usageStreamConfig = {
  name: usageStream.name,
  subjects: [usageStream.subject] as string[],
  storage: 'file',
  retention: 'limits',
  // A full stream refuses: the outboxes keep what it does not take.
  discard: 'new',
  max_age: usageStream.maxAgeMs * 1e6,
  duplicate_window: usageStream.duplicateWindowMs * 1e6,
} as const;

/** What the NATS client takes; it ignores credentials within an address, hence this. */
export interface NatsAddresses {
  servers: string[];
  user?: string;
  pass?: string;
  token?: string;
  /** Present when an address begins with `tls://`. */
  tls?: Record<string, never>;
}

/**
 * Reads `NATS_URL`: `[nats|tls]://[user:password@ or token@]host:port`, several
 * with commas. Credentials of the first address that has any are used for all.
 * @throws TypeError for what is not an address.
 */
export function parseNatsAddresses(text: string): NatsAddresses {
  const urls = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(addressOf);
  const login = urls.find(({ username }) => username !== '');
  const user = decodeURIComponent(login?.username ?? '');
  const pass = decodeURIComponent(login?.password ?? '');
  return {
    servers: urls.map(({ host }) => host),
    ...(pass === '' ? {} : { user, pass }),
    ...(pass === '' && user !== '' ? { token: user } : {}),
    ...(urls.some(({ protocol }) => protocol === 'tls:') ? { tls: {} } : {}),
  };
}

/** The platform's own error would carry the address, and with it the password, into a log. */
function addressOf(part: string): URL {
  const address = part.includes('://') ? part : `nats://${part}`;
  const url = URL.parse(address);
  if (url === null || !/^(nats|tls):$/.test(url.protocol) || url.hostname === '')
    throw new TypeError('must be nats://host:port or tls://host:port, several with commas');
  return url;
}
