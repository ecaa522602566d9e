import { bool, defineSettings, optionalSecret, SettingsError, text } from '@sluice/env';
import { FlagError } from './flags.ts';

/** What of a person's environment `npm start` itself acts on; all else goes to the services as it is. */
const settings = defineSettings({
  Start: {
    HOST: text('where the gateway listens', '127.0.0.1'),
    DATABASE_URL: optionalSecret('Postgres in place of the embedded one'),
    CLICKHOUSE_URL: optionalSecret('ClickHouse in place of the embedded engine'),
    REDIS_URL: optionalSecret('Redis that gateways share'),
    NATS_URL: optionalSecret('NATS that carries usage records'),
    GRPC_ENABLED: bool('the gateway has a port for gRPC', false),
  },
});

export interface OwnSettings {
  host: string;
  databaseUrl: string | undefined;
  clickhouseUrl: string | undefined;
  redisUrl: string | undefined;
  natsUrl: string | undefined;
  speaksGrpc: boolean;
  /** What is told of them at the start, a line each, without what is secret. */
  said: readonly string[];
}

/** @throws FlagError for values that are none, and for `--reset` where it would leave half of the data */
export function ownSettings(
  environment: Readonly<Record<string, string | undefined>>,
  { reset }: { reset: boolean },
): OwnSettings {
  const env = read(environment);
  if (reset && (env.DATABASE_URL ?? env.CLICKHOUSE_URL) !== undefined)
    throw new FlagError(
      '--reset deletes the data directory, and not what is in the stores of DATABASE_URL and CLICKHOUSE_URL: the two would not fit. Unset them, or empty the stores yourself and delete the directory.',
    );
  const said = (
    [
      ['DATABASE_URL', env.DATABASE_URL, 'Postgres'],
      ['CLICKHOUSE_URL', env.CLICKHOUSE_URL, 'ClickHouse'],
      ['REDIS_URL', env.REDIS_URL, 'Redis'],
      ['NATS_URL', env.NATS_URL, 'NATS'],
    ] as const
  ).flatMap(([name, url, title]) =>
    url === undefined ? [] : [`  ${title} at ${placeOf(url)}, by ${name}`],
  );
  const listening =
    env.HOST === '127.0.0.1' ? [] : [`  the gateway listens on ${env.HOST}, by HOST`];
  return {
    host: env.HOST,
    databaseUrl: env.DATABASE_URL,
    clickhouseUrl: env.CLICKHOUSE_URL,
    redisUrl: env.REDIS_URL,
    natsUrl: env.NATS_URL,
    speaksGrpc: env.GRPC_ENABLED,
    said: [...said, ...listening],
  };
}

function read(environment: Readonly<Record<string, string | undefined>>) {
  try {
    return settings.readEnv(environment);
  } catch (error) {
    if (error instanceof SettingsError) throw new FlagError(error.message);
    throw error;
  }
}

/** Hosts and ports of an address, of several with commas, and nothing that may be a password. */
function placeOf(urls: string): string {
  return urls
    .split(',')
    .map((url) => {
      const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url.trim())?.[1];
      return authority?.replace(/^.*@/, '') || 'an address that is no URL';
    })
    .join(', ');
}
