import { parseNatsAddresses } from '@sluice/contracts';
import {
  airGapSettings,
  bool,
  checked,
  clientTlsSettings,
  defineSettings,
  grpcAddress,
  integer,
  optionalSecret,
  processSettings,
  secret,
  secrets,
  secretUrl,
  serverTlsSettings,
  text,
  url,
} from '@sluice/env';
import { logStoreSettings } from '@sluice/object-store';
import { receiverSettings } from '@sluice/otlp';
import { replicationSettings } from './clickhouse/replication.ts';

const hourMs = 3_600_000;

const statusCheck = (what: string) =>
  integer(
    `ms between looks at a ${what}, while it is young; of an older one a tenth of its age`,
    10_000,
    10_000,
    hourMs,
  );

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
    CONTROL_PLANE_GRPC_URL: grpcAddress(
      'host:port of the control plane’s gRPC, which knows of files and batches',
      '127.0.0.1:8790',
    ),
    GATEWAY_URL: url(
      'gateway that lines of batches are sent to, and that looks at work at providers go through',
      'http://127.0.0.1:8787',
    ),
    GRPC_ALLOW_INSECURE: bool('allow plaintext gRPC beyond loopback', false),
    ...serverTlsSettings,
    ...clientTlsSettings,
    ...airGapSettings,
  },
  OpenTelemetry: receiverSettings,
  'Work at providers': {
    FOLLOWED_AT_ONCE: integer(
      'works that this replica looks at at once, which go on at providers; 0 = none',
      16,
      0,
      200,
    ),
    FOLLOW_LOOK_INTERVAL: integer('ms between looks for works that are due', 5_000, 10, 60_000),
    RESPONSE_STATUS_CHECK_INTERVAL: statusCheck('response in the background, a run or a video'),
    BATCH_STATUS_CHECK_INTERVAL: statusCheck('batch'),
    FINETUNE_STATUS_CHECK_INTERVAL: statusCheck('fine-tuning job'),
    FOLLOW_TIME_MAX: integer(
      'ms after which work at a provider that has not ended counts as lost',
      48 * hourMs,
      hourMs,
      365 * 24 * hourMs,
    ),
    BATCH_TIME_MAX: integer(
      'ms of the same for batches, which some providers give a week',
      8 * 24 * hourMs,
      hourMs,
      365 * 24 * hourMs,
    ),
    FINETUNE_TIME_MAX: integer(
      'ms of the same for fine-tuning jobs',
      30 * 24 * hourMs,
      hourMs,
      365 * 24 * hourMs,
    ),
  },
  'Files and batches': {
    ...logStoreSettings,
    FILE_BYTES_MAX: integer('largest file, bytes', 512 * 1024 * 1024, 1, 100 * 1024 ** 3),
    RESPONSE_BYTES_MAX: integer(
      'largest response with its whole input, or conversation, that is kept, bytes',
      32 * 1024 * 1024,
      1024,
      1024 ** 3,
    ),
    BATCHES_AT_ONCE: integer('batches that this replica runs at once; 0 = none', 4, 0, 1_000),
    BACKGROUND_AT_ONCE: integer(
      'responses in the background that this replica has under way at once; 0 = none',
      64,
      0,
      10_000,
    ),
    BATCH_LOOK_INTERVAL: integer('ms between looks for batches', 1_000, 10, 60_000),
    BATCH_LEASE: integer(
      'ms without a word after which another replica goes on with a batch',
      15_000,
      1_000,
      600_000,
    ),
    BATCH_LINES_MAX: integer('lines of one batch', 500_000, 1, 5_000_000),
    BATCH_LINE_BYTES_MAX: integer('bytes of one line', 4 * 1024 * 1024, 1024, 64 * 1024 * 1024),
    BATCH_LINES_AT_ONCE: integer('lines of one batch under way at once', 64, 1, 1_000),
    BATCH_BUCKET_LINES: integer(
      'lines that a batch with time begins each BATCH_BUCKET_INTERVAL, or more where it would not be done in time; `immediate` begins as many as limits let in',
      25,
      1,
      1_000_000,
    ),
    BATCH_BUCKET_INTERVAL: integer('ms of it', 5_000, 100, 3_600_000),
    BATCH_LINE_RETRIES: integer(
      'further calls of a line that failed at its provider, beside those of its config',
      3,
      0,
      100,
    ),
    BATCH_LINE_TIMEOUT: integer('ms that a line waits for a gateway', 600_000, 1_000, 3_600_000),
    BATCH_ANSWER_BYTES_MAX: integer(
      'bytes of the answer of one line',
      16 * 1024 * 1024,
      1024,
      256 * 1024 * 1024,
    ),
  },
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
    NATS_URL: checked(
      optionalSecret(
        'NATS with JetStream, nats://user:password@host:4222, several with commas; unset = records come by gRPC only',
      ),
      parseNatsAddresses,
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
