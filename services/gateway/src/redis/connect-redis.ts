import { createSeldom, type Logger, reasonOf } from '@sluice/telemetry';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { RedisPlace } from './redis-settings.ts';

/** A client that connects now, and again for ever. Whoever gets it closes it. */
export function connectRedis(
  place: RedisPlace,
  logger: Logger,
  /** What stands beside what the log says of it. */
  facts: object = {},
): Redis | Cluster {
  const client = place.mode === 'cluster' ? connectCluster(place) : connectOne(place);
  const seldom = createSeldom(tellEveryMs);
  let failedMs = Number.NEGATIVE_INFINITY;
  let awaySinceMs: number | undefined;
  const tell = (error: unknown) => {
    failedMs = performance.now();
    if (client.status !== 'ready') awaySinceMs ??= failedMs;
    seldom.say(causeOf(error), (repeats) =>
      logger.warn(
        { ...facts, reason: reasonOf(error), repeats },
        'redis cannot be used at the moment',
      ),
    );
  };
  client.on('error', tell);
  client.on('node error', tell);
  // A connection that breaks says why before it is closed, and counts as ready until then.
  client.on('close', () => {
    if (performance.now() - failedMs < closesWithinMs) awaySinceMs ??= failedMs;
  });
  client.on('ready', () => {
    if (awaySinceMs === undefined) return;
    const awayMs = Math.round(performance.now() - awaySinceMs);
    awaySinceMs = undefined;
    seldom.forget();
    logger.info({ ...facts, away_ms: awayMs }, 'redis can be used again');
  });
  return client;
}

/** A client that is away tries again every two seconds at most, and fails each time for the same reason. */
const tellEveryMs = 300_000;

const closesWithinMs = 1000;

/** Of an error without what differs from try to try. */
function causeOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return code ?? message?.replace(/\d+/g, '#') ?? '';
}

const retryStrategy = (attempt: number) => Math.min(2000, attempt * 100);

/** Fails at once while the server is away: nobody waits in line for it. */
function commonOptions({ username, password, tls }: RedisPlace): RedisOptions {
  return {
    username,
    password,
    tls,
    maxRetriesPerRequest: 0,
    connectTimeout: 2000,
    // A server that vanished without closing its connection must not be waited for.
    socketTimeout: 10_000,
  };
}

function connectOne(place: RedisPlace): Redis {
  const { addresses, db, sentinel, tls } = place;
  return new Redis({
    ...commonOptions(place),
    db,
    enableOfflineQueue: false,
    retryStrategy,
    ...(sentinel === undefined
      ? addresses[0]
      : {
          sentinels: [...addresses],
          name: sentinel.master,
          sentinelUsername: sentinel.username,
          sentinelPassword: sentinel.password,
          sentinelTLS: tls,
          enableTLSForSentinelMode: tls !== undefined,
          sentinelRetryStrategy: retryStrategy,
          // Told by the sentinels of another master, it does not wait for the old one to fail.
          failoverDetector: true,
        }),
  });
}

function connectCluster(place: RedisPlace): Cluster {
  return new Cluster([...place.addresses], {
    redisOptions: commonOptions(place),
    scaleReads: place.scaleReads,
    clusterRetryStrategy: retryStrategy,
    // Certificates are for names: looked up here, they would be compared with addresses.
    dnsLookup: place.tls === undefined ? undefined : (host, found) => found(null, host),
  });
}
