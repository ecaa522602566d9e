import {
  airGapSettings,
  bool,
  defineSettings,
  integer,
  optionalSecret,
  processSettings,
  secret,
  secrets,
  secretUrl,
  serverTlsSettings,
  text,
} from '@sluice/env';
import { receiverSettings } from '@sluice/otlp';
import { replicationSettings } from './clickhouse/replication.ts';

/** Every setting of the data service, as docs/settings.md shows them. */
export const settings = defineSettings({
  Process: {
    ...processSettings({ name: 'data-service', drainMs: 8_000 }),
    NODE_ENV: text('label `env` of the metrics', 'production'),
    HOST: text('address to listen on', '127.0.0.1'),
    PORT: integer('HTTP port of health checks and metrics; 0 picks a free one', 8792, 0, 65_535),
    GRPC_PORT: integer('port the other services ask; 0 picks a free one', 8791, 0, 65_535),
  },
  'Other services': {
    SERVICE_CLIENT_AUTH: secret('token that the services share'),
    SERVICE_CLIENT_AUTH_ALSO: secrets('further tokens that are taken from them; commas between'),
    GRPC_ALLOW_INSECURE: bool('allow plaintext gRPC beyond loopback', false),
    ...serverTlsSettings,
    ...airGapSettings,
  },
  OpenTelemetry: receiverSettings,
  Ledger: {
    CLICKHOUSE_URL: secretUrl(
      'ClickHouse, http(s)://user:password@host:8123/database; unset = the embedded engine',
    ),
    ...replicationSettings,
    CLICKHOUSE_DATA_DIR: text('folder of the embedded engine', '.sluice/clickhouse'),
    ANALYTICS_ROLL_UPS: bool(
      'roll up minutes, hours and days for analytics; without it every question reads attempts',
      true,
    ),
    NATS_URL: optionalSecret(
      'NATS with JetStream, nats://user:password@host:4222, several with commas; unset = records come by gRPC only',
    ),
    // Analytics promise to show a request within five seconds; a fifth of one still merges well.
    INSERT_INTERVAL: integer(
      'ms that a record waits for others, to be stored with them by one insert; an insert costs 35 ms of CPU in the embedded engine',
      200,
      10,
      5000,
    ),
    GAP_GRACE: integer(
      'ms that a record may take from a gateway, by whichever way, before it is called missing',
      120_000,
      1000,
    ),
  },
});

export type Env = ReturnType<typeof settings.readEnv>;
