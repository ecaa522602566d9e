import { arrivalReader, parseNatsAddresses } from '@sluice/contracts';
import {
  airGapHostSettings,
  bool,
  bytesSecret,
  bytesSecrets,
  checked,
  clientTlsSettings,
  csv,
  defineSettings,
  factsKeySetting,
  grpcAddress,
  integer,
  metricsSettings,
  oneOf,
  optionalSecret,
  optionalText,
  processSettings,
  secret,
  secrets,
  serverTlsSettings,
  text,
  url,
} from '@sluice/env';
import { logStoreSettings } from '@sluice/object-store';
import { receiverSettings } from '@sluice/otlp';
import { checkDnsServers, readProxy } from '@sluice/outbound';
import { schemaOf } from './kernel/names/schema-of.ts';

const databaseSettings = {
  DATABASE_URL: checked(
    secret(
      'Postgres, postgres://user:password@host:port/database; `?schema=` where the tables are not in `public`',
    ),
    checkDatabase,
  ),
  DATABASE_CONNECTIONS_MAX: integer('connections of the pool', 10, 2, 500),
  DATABASE_PREPARED_STATEMENTS: integer(
    'statements that each connection keeps prepared; 0 behind a pooler that does not',
    256,
    0,
    5_000,
  ),
};

function checkDatabase(value: string): void {
  if (!/^postgres(ql)?:$/.test(URL.parse(value)?.protocol ?? ''))
    throw new Error('must be postgres://user:password@host:port/database');
  schemaOf(value);
}

/** Keys travel in headers. */
function checkKeyPrefix(value: string): void {
  if (!/^[\w.-]+$/.test(value)) throw new Error('must be letters, digits, `_`, `-` and `.`');
}

/** Every setting of the control plane, as docs/settings.md shows them. */
export const settings = defineSettings({
  Process: {
    ...processSettings({ name: 'sluice-control-plane', drainMs: 10_000 }),
    LOG_REQUESTS: bool('write one log event a request of the admin API', true),
    NODE_ENV: text(
      'label `env` of metrics; `production` trusts no private hosts by default',
      'development',
    ),
    HOST: text('address to listen on, HTTP and gRPC', '127.0.0.1'),
    PORT: integer('HTTP port', 8788, 0, 65_535),
    GRPC_PORT: integer('gRPC port that gateways ask', 8790, 0, 65_535),
    ...metricsSettings({ port: 9465 }),
  },
  Database: databaseSettings,
  'Keys and secrets': {
    MASTER_KEY: bytesSecret('wraps the data keys of credentials at rest', 32),
    MASTER_KEY_ALSO: bytesSecrets(
      'further master keys that open what they sealed: the next one before it is in use, that of before until all is sealed anew; commas between',
      32,
    ),
    KEY_PEPPER: bytesSecret('pepper of the key hashes, the same as the gateway’s', 32),
    KEY_PEPPER_ALSO: bytesSecrets(
      'further peppers that hashes may be of, the same as the gateways’; commas between',
      32,
    ),
    API_KEY_PREFIX: checked(text('what new service keys begin with', 'sl_'), checkKeyPrefix),
    KEY_MAINTENANCE_INTERVAL: integer(
      'ms between runs that remove ended secrets and note expired keys and due rotations; 0 = never',
      60_000,
      0,
      2_147_483_647,
    ),
    JWT_ENABLED: bool('take JWTs of organisations’ own identity providers as credentials', false),
    JWT_PRIVATE_KEY: optionalSecret(
      'RSA key, PEM, that signs the tokens of [clients of MCP](mcp-oauth.md); unset = one is made, kept sealed and rotated',
    ),
    MCP_SIGNING_KEY_DAYS: integer(
      'days after which the key that is made is followed by the next',
      90,
      1,
      3_650,
    ),
    OAUTH_MAINTENANCE_INTERVAL: integer(
      'ms between runs that remove what has ended of OAuth, and rotate its key; 0 = never',
      60_000,
      0,
      2_147_483_647,
    ),
  },
  Limits: {
    COUNTER_MAINTENANCE_INTERVAL: integer(
      'ms between runs that remove counters of limits and groups that are gone; 0 = never',
      600_000,
      0,
      2_147_483_647,
    ),
    ALERT_INTERVAL: integer(
      'ms between looks for alerts that are to be sent again',
      5_000,
      100,
      2_147_483_647,
    ),
    NATS_URL: checked(
      optionalSecret(
        'NATS that alerts of limits are published to, `sluice.alerts.v1`; nats://user:password@host:4222, several with commas; unset = webhooks only',
      ),
      parseNatsAddresses,
    ),
  },
  'Other services': {
    SERVICE_CLIENT_AUTH: secret('token shared by the three services'),
    SERVICE_CLIENT_AUTH_ALSO: secrets('further tokens that are taken from them; commas between'),
    OTEL_AUDIT_ENABLED: bool('send the audit logs of all organisations as logs by OTLP', false),
    OTEL_AUDIT_INTERVAL: integer(
      'ms between looks for entries of audit logs that the receiver does not have',
      1_000,
      10,
      2_147_483_647,
    ),
    ...receiverSettings,
    FEEDBACK_INTERVAL: integer(
      'ms between looks for feedback that the ledger does not have yet; 0 = never',
      1_000,
      0,
      2_147_483_647,
    ),
    DATA_SERVICE_GRPC_URL: grpcAddress(
      'host:port of the data service’s gRPC, asked for analytics',
      '127.0.0.1:8791',
    ),
    GRPC_ALLOW_INSECURE: bool('allow gRPC without TLS beyond loopback', false),
    HTTP_TLS_ENABLED: bool('speak HTTPS on PORT, with TLS_CERT_PATH', false),
    ...serverTlsSettings,
    ...clientTlsSettings,
  },
  'Bodies that are kept': {
    ...logStoreSettings,
    CONTENT_MAINTENANCE_INTERVAL: integer(
      'ms between runs that erase bodies older than their organisation keeps them; 0 = never',
      3_600_000,
      0,
      2_147_483_647,
    ),
  },
  'Files and batches': {
    FILES_PER_WORKSPACE_MAX: integer('files that a workspace may have at once', 10_000, 0),
    FILE_KEEP_DAYS: integer(
      'days that a file is kept whose sender does not say how long; 0 = until it is deleted',
      30,
      0,
      3_650,
    ),
    RESPONSES_PER_WORKSPACE_MAX: integer(
      'responses and conversations that a workspace may have kept by the service at once',
      100_000,
      0,
    ),
    RESPONSES_BYTES_PER_WORKSPACE_MAX: integer(
      'bytes that these may be together',
      10 * 1024 ** 3,
      0,
    ),
    RESPONSE_KEEP_DAYS: integer(
      'days that a response or a conversation is kept after its last change; 0 = until it is deleted',
      30,
      0,
      3_650,
    ),
    BACKGROUND_RESPONSES_MAX: integer(
      'responses that a workspace may have under way in the background at once',
      1_000,
      0,
    ),
    BATCHES_PER_WORKSPACE_MAX: integer(
      'batches that a workspace may have under way at once',
      100,
      0,
    ),
    FOLLOWED_PER_WORKSPACE_MAX: integer(
      'works at providers that are followed for a workspace at once; more are billed only when they are polled',
      10_000,
      0,
    ),
  },
  'Log exports': {
    LOG_EXPORTS_AT_ONCE: integer('log exports that this replica runs at once', 2, 0, 100),
    LOG_EXPORT_INTERVAL: integer(
      'ms between looks for log exports that were started; 0 = never',
      1_000,
      0,
      2_147_483_647,
    ),
    LOG_EXPORT_LEASE: integer(
      'ms without a word from a replica after which another one goes on with its export',
      30_000,
      1_000,
      3_600_000,
    ),
    LOG_EXPORT_LINK_SECONDS: integer(
      'how long a link to the file of an export lasts',
      3_600,
      1,
      604_800,
    ),
    LOG_EXPORT_KEEP_DAYS: integer('how long files of exports are kept', 7, 1, 36_500),
  },
  Simulation: {
    SIMULATIONS_AT_ONCE: integer(
      'changes that this replica simulates at once, each in a thread of up to 400 MB',
      1,
      0,
      16,
    ),
  },
  Callers: {
    PUBLIC_URL: url(
      'where callers reach the gateway, for the addresses in answers; unset = where the request came',
    ),
    MCP_GATEWAY_BASE_URL: url(
      'where clients of MCP reach the gateway, the same as the gateways’: what OAuth documents and tokens name; unset = PUBLIC_URL, else the origin that was called, on this machine only',
    ),
    TRUSTED_PROXIES: checked(
      csv(
        'addresses and ranges of proxies whose X-Forwarded-* is believed; gateways prove themselves',
      ),
      arrivalReader,
    ),
    HEADER_PREFIX: text('how the names of our own headers begin, as at the gateway', 'x-service-'),
    HEADER_PREFIX_ALIASES: csv('further prefixes that callers may use, and get replies under'),
    LENIENT_INPUT: bool(
      'leave out fields and parameters that nobody knows, with a warning, whoever sends them',
      false,
    ),
    REQUEST_BODY_BYTES_MAX: integer('largest JSON body, bytes', 1024 * 1024, 1024),
    OTEL_BODY_BYTES_MAX: integer(
      'largest export of OpenTelemetry that is taken, unpacked, bytes',
      4 * 1024 * 1024,
      1024,
    ),
  },
  'What admins save': {
    MAX_ROOT_CONFIG_TARGETS: integer(
      'targets at the top of a config that is saved, as at the gateways',
      100,
      1,
    ),
    MAX_CONDITIONAL_ROOT_CONFIG_TARGETS: integer('the same for conditional configs', 1000, 1),
    MAX_NESTED_CONFIG_TARGETS: integer('targets below one target at the top', 50, 1),
  },
  Prices: {
    PRICE_FILES_DIR: optionalText(
      'folder with [price files](prices.md) of your own, the same as the gateways’',
    ),
    FACTS_PUBLIC_KEY_FILE: factsKeySetting,
  },
  'Hosts that admins name': {
    ...airGapHostSettings,
    TRUSTED_CUSTOM_HOSTS: csv(
      'hosts that admins may name although they are private; replaces the default list',
    ),
    TRUSTED_CALLER_HOSTS: csv(
      'the same for hosts that others name: clients of MCP that are [documents](mcp-oauth.md); unset = this machine in development, else nobody',
    ),
    OWN_HOSTS: csv(
      'hosts, `host:port` and ranges of this installation, never called; beside those in other settings',
    ),
    KUBERNETES_SERVICE_HOST: optionalText(
      'set by Kubernetes: its API server, which is never called',
    ),
    DNS_RESOLVER: oneOf(
      'how names that admins write are looked up; `system` = getaddrinfo, with NSS and mDNS',
      ['dns', 'system'],
      'dns',
    ),
    DNS_SERVERS: checked(
      csv('`address` or `address:port` asked in place of the system’s DNS servers'),
      checkDnsServers,
    ),
    HTTPS_PROXY: checked(
      optionalSecret('proxy to https:// addresses that admins name; a URL'),
      readProxy,
    ),
    HTTP_PROXY: checked(
      optionalSecret('proxy to http:// addresses that admins name; a URL'),
      readProxy,
    ),
    NO_PROXY: optionalText('hosts reached without a proxy: names, addresses, ranges, or `*`'),
  },
  Bootstrap: {
    ADMIN_KEY: optionalSecret(
      'bootstrap only: the first admin key, a service key that you made; unset = one is made and shown once',
    ),
    WORKSPACE_KEY: optionalSecret('bootstrap only: the same of the first workspace key'),
    DEMO_UPSTREAM_URL: optionalText(
      'bootstrap only: address of the local demo upstream; unset = no demo provider',
    ),
  },
});

/** For who only reads the database. */
export const databaseOnly = defineSettings({ Database: databaseSettings });

export type Env = ReturnType<typeof settings.readEnv>;
