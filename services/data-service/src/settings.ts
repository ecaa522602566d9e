import {
  bool,
  defineEnv,
  integer,
  optionalText,
  secret,
  serverTlsSettings,
  text,
  url,
} from '@sluice/env';

/** The process settings; the only reader of the environment. */
export function readEnv(source: NodeJS.ProcessEnv) {
  return defineEnv(
    {
      HOST: text('address to listen on', '127.0.0.1'),
      PORT: integer('HTTP port of health checks and metrics; 0 picks a free one', 8792, 0, 65_535),
      GRPC_PORT: integer('port the other services ask; 0 picks a free one', 8791, 0, 65_535),
      NODE_ENV: text('label `env` of the metrics', 'production'),
      SERVICE_NAME: text('label `app` of the metrics and name in the logs', 'data-service'),
      LOG_LEVEL: text('lowest level that is logged', 'info'),
      SERVICE_CLIENT_AUTH: secret('token that the services share'),
      GRPC_ALLOW_INSECURE: bool('allow plaintext gRPC beyond loopback', false),
      ...serverTlsSettings,
      CLICKHOUSE_URL: clickHouseUrl,
      CLICKHOUSE_DATA_DIR: text('folder of the embedded engine', '.sluice/clickhouse'),
      NATS_URL: natsUrl,
    },
    source,
  );
}

const clickHouseUrl = url(
  'ClickHouse, http(s)://user:password@host:8123/database; unset = the embedded engine',
);
const natsUrl = optionalText(
  'NATS with JetStream, nats://user:password@host:4222, several with commas; unset = records come by gRPC only',
);

export type Env = ReturnType<typeof readEnv>;
