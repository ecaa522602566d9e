import {
  bool,
  certificates,
  csv,
  integer,
  oneOf,
  optionalSecret,
  optionalText,
  type SectionValues,
  SettingsError,
} from '@sluice/env';

/** Where Redis is and how it is run. None of these = no Redis: each gateway counts and remembers alone. */
export const redisSettings = {
  REDIS_URL: optionalSecret(
    'Redis that several gateways share: `redis://user:password@host:port/db`, or `rediss://` for TLS',
  ),
  REDIS_HOST: optionalText('its host, in place of REDIS_URL'),
  REDIS_PORT: integer('its port, with REDIS_HOST', 6379, 1, 65_535),
  REDIS_USERNAME: optionalText('user at Redis, where REDIS_URL names none'),
  REDIS_PASSWORD: optionalSecret('password at Redis, where REDIS_URL has none'),
  REDIS_MODE: oneOf(
    '`standalone`; `cluster` for Redis Cluster; `sentinel` asks REDIS_SENTINELS for the master',
    ['standalone', 'cluster', 'sentinel'],
    'standalone',
  ),
  REDIS_TLS_ENABLED: bool(
    'TLS to Redis, and to the sentinels; a `rediss://` URL says so as well',
    false,
  ),
  REDIS_TLS_CERTS: certificates(
    'authority of Redis’ certificate, PEM or a path; unset = the public ones',
  ),
  REDIS_SCALE_READS: oneOf(
    'nodes of a cluster that are read from; counters are always the master’s',
    ['master', 'slave', 'all'],
    'master',
  ),
  REDIS_CLUSTER_ENDPOINTS: csv(
    '`host:port` of nodes asked first for the others; unset = REDIS_URL or REDIS_HOST',
  ),
  REDIS_SENTINELS: csv('`host:port` of the sentinels'),
  REDIS_SENTINEL_MASTER: optionalText('name of the master that the sentinels watch'),
  REDIS_SENTINEL_USERNAME: optionalText('user at the sentinels'),
  REDIS_SENTINEL_PASSWORD: optionalSecret('password at the sentinels'),
} as const;

export type RedisSettings = SectionValues<typeof redisSettings>;

interface Address {
  host: string;
  port: number;
}

/** Settings with what follows from them. */
export interface RedisPlace {
  mode: RedisSettings['REDIS_MODE'];
  /** The one server, the nodes of the cluster that are named, or the sentinels. */
  addresses: readonly Address[];
  username: string | undefined;
  password: string | undefined;
  db: number;
  /** Undefined = no TLS. */
  tls: { ca: string | undefined } | undefined;
  scaleReads: RedisSettings['REDIS_SCALE_READS'];
  sentinel:
    | { master: string; username: string | undefined; password: string | undefined }
    | undefined;
}

/**
 * Undefined = there is no Redis.
 * @throws SettingsError for settings that contradict each other or miss something, with their names
 */
export function readRedisPlace(settings: RedisSettings): RedisPlace | undefined {
  const url = settings.REDIS_URL === undefined ? undefined : readUrl(settings.REDIS_URL);
  const addresses = addressesOf(settings, url);
  if (addresses.length === 0) return undefined;
  const isTls = settings.REDIS_TLS_ENABLED || url?.protocol === 'rediss:';
  if (!isTls && settings.REDIS_TLS_CERTS !== undefined)
    throw new SettingsError([
      'REDIS_TLS_CERTS is of use with REDIS_TLS_ENABLED or a rediss:// URL only',
    ]);
  const db = databaseOf(url);
  if (settings.REDIS_MODE === 'cluster' && db !== 0)
    throw new SettingsError(['REDIS_URL names a database, and a cluster has only one']);
  return {
    mode: settings.REDIS_MODE,
    addresses,
    username: textOf(url?.username) ?? settings.REDIS_USERNAME,
    password: textOf(url?.password) ?? settings.REDIS_PASSWORD,
    db,
    tls: isTls ? { ca: settings.REDIS_TLS_CERTS } : undefined,
    scaleReads: settings.REDIS_SCALE_READS,
    sentinel: sentinelOf(settings),
  };
}

function addressesOf(settings: RedisSettings, url: URL | undefined): Address[] {
  switch (settings.REDIS_MODE) {
    case 'sentinel':
      return readList('REDIS_SENTINELS', settings.REDIS_SENTINELS, 26_379);
    case 'cluster':
      if (settings.REDIS_CLUSTER_ENDPOINTS !== undefined)
        return readList('REDIS_CLUSTER_ENDPOINTS', settings.REDIS_CLUSTER_ENDPOINTS, 6379);
  }
  const named = addressOf(settings, url);
  if (named === undefined && settings.REDIS_MODE === 'cluster')
    throw new SettingsError([
      'REDIS_MODE=cluster needs REDIS_CLUSTER_ENDPOINTS, REDIS_URL or REDIS_HOST',
    ]);
  return named === undefined ? [] : [named];
}

function addressOf(settings: RedisSettings, url: URL | undefined): Address | undefined {
  if (url !== undefined)
    return { host: withoutBrackets(url.hostname) || '127.0.0.1', port: Number(url.port || 6379) };
  return settings.REDIS_HOST === undefined
    ? undefined
    : { host: withoutBrackets(settings.REDIS_HOST), port: settings.REDIS_PORT };
}

function sentinelOf(settings: RedisSettings): RedisPlace['sentinel'] {
  if (settings.REDIS_MODE !== 'sentinel') return undefined;
  if (settings.REDIS_SENTINEL_MASTER === undefined)
    throw new SettingsError(['REDIS_MODE=sentinel needs REDIS_SENTINEL_MASTER']);
  return {
    master: settings.REDIS_SENTINEL_MASTER,
    username: settings.REDIS_SENTINEL_USERNAME,
    password: settings.REDIS_SENTINEL_PASSWORD,
  };
}

/** IPv4, names, and IPv6 with or without brackets; the port is what follows the last colon. */
function readList(name: string, list: readonly string[] = [], portDefault: number): Address[] {
  if (list.length === 0) throw new SettingsError([`${name} must name at least one host:port`]);
  return list.map((entry) => {
    const [, host = '', port] = /^(.*?)(?::(\d{1,5}))?$/.exec(entry) ?? [];
    if (host === '')
      throw new SettingsError([`${name} has an entry that is no host:port: ${entry}`]);
    return { host: withoutBrackets(host), port: port === undefined ? portDefault : Number(port) };
  });
}

function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^rediss?:$/.test(url.protocol))
    throw new SettingsError(['REDIS_URL must be a redis:// or rediss:// URL']);
  return url;
}

function databaseOf(url: URL | undefined): number {
  const [, db] = /^\/?(\d*)$/.exec(url?.pathname ?? '') ?? [];
  if (db === undefined)
    throw new SettingsError(['REDIS_URL must end with the number of a database']);
  return Number(db);
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}

function textOf(encoded: string | undefined): string | undefined {
  return encoded === undefined || encoded === '' ? undefined : decodeURIComponent(encoded);
}
