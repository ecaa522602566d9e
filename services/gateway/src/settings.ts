import { arrivalReader, jwtScopes, normaliseScope, parseNatsAddresses } from '@sluice/contracts';
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
  serverTlsSettings,
  text,
  url,
  uuids,
} from '@sluice/env';
import { logStoreSettings } from '@sluice/object-store';
import { receiverSettings } from '@sluice/otlp';
import { checkDnsServers, readProxy } from '@sluice/outbound';
import { cloudSettings } from './cloud-settings.ts';
import { otlpSettings } from './otlp-settings.ts';
import { prometheusSettings } from './prometheus-settings.ts';
import { redisSettings } from './redis/redis-settings.ts';
import { semanticCacheSettings } from './semantic-cache-settings.ts';

/** Timers count in 31 bits; a longer wait would end at once. */
const timerMsMax = 2 ** 31 - 1;

function checkTokenScopes(scopes: readonly string[]): void {
  const unknown = scopes.find((scope) => !jwtScopes.has(normaliseScope(scope)));
  if (unknown !== undefined)
    throw new Error(
      `has ${unknown}, which is no scope a JWT may have; there are ${[...jwtScopes].join(', ')}`,
    );
}

/** Every setting of the gateway, as docs/settings.md shows them. */
export const settings = defineSettings({
  Process: {
    ...processSettings({ name: 'sluice-gateway', drainMs: 15_000 }),
    LOG_REQUESTS: bool(
      'write one log event a request, and one for the checks of each target',
      true,
    ),
    NODE_ENV: text('`production` trusts no private hosts by default', 'development'),
    HOST: text('address to listen on', '127.0.0.1'),
    PORT: integer('HTTP port', 8787, 0, 65_535),
    ...metricsSettings({ port: 9464 }),
    ADMIN_API_ON_GATEWAY: bool(
      'forward the admin API and its page at /docs to the control plane; without it they are on the control plane’s PORT alone',
      true,
    ),
    REPLICA_ID: optionalText(
      'name of this gateway in usage records; default: made once and kept in DATA_DIR',
    ),
  },
  Prometheus: prometheusSettings,
  'On disk': {
    DATA_DIR: text('folder of the outbox, the snapshot and the counters'),
    SNAPSHOT_KEY: bytesSecret('encrypts the snapshot on disk', 32),
    SNAPSHOT_KEY_ALSO: bytesSecrets(
      'further keys that it may be encrypted with; commas between',
      32,
    ),
    OUTBOX_BYTES_MAX: integer(
      'bytes of unsent usage records kept on disk before requests are refused',
      4 * 1024 ** 3,
      1024 * 1024,
    ),
  },
  'Other services': {
    CONTROL_PLANE_GRPC_URL: grpcAddress('host:port of the control plane’s gRPC', '127.0.0.1:8790'),
    CONTROL_PLANE_URL: url(
      'base of the admin API; admin paths are forwarded to it',
      'http://127.0.0.1:8788',
    ),
    DATA_SERVICE_GRPC_URL: grpcAddress(
      'host:port usage records go to when NATS_URL is not set',
      '127.0.0.1:8791',
    ),
    NATS_URL: checked(
      optionalSecret('NATS server(s) for usage records, comma separated'),
      parseNatsAddresses,
    ),
    SERVICE_CLIENT_AUTH: secret('token shared by the three services'),
    HTTP_TLS_ENABLED: bool(
      'speak TLS to callers, on PORT and GRPC_PORT, with TLS_CERT_PATH',
      false,
    ),
    GRPC_ALLOW_INSECURE: bool('allow plaintext gRPC to services beyond loopback', false),
    ...serverTlsSettings,
    ...clientTlsSettings,
  },
  Redis: redisSettings,
  'Who may call': {
    KEY_PEPPER: bytesSecret('pepper of the key hashes, the same as the control plane’s', 32),
    KEY_PEPPER_ALSO: bytesSecrets(
      'further peppers that hashes may be of, the same as the control plane’s; commas between',
      32,
    ),
    JWT_ENABLED: bool(
      'take JWTs of organisations’ own identity providers as credentials, validated here',
      false,
    ),
    ORGANISATIONS_TO_SYNC: uuids(
      'organisations whose JWTs are taken, held from the start; unset = all',
    ),
    JWT_LOCAL_AUTH_DEFAULT_SCOPES: checked(
      csv('scopes of JWTs that name none, where the organisation sets none either'),
      checkTokenScopes,
    ),
    TRUSTED_PROXIES: checked(
      csv(
        'addresses and ranges of proxies in front, whose X-Forwarded-For, -Host and -Proto are believed',
      ),
      arrivalReader,
    ),
    HEADER_PREFIX: text('how the names of our own headers begin', 'x-service-'),
    HEADER_PREFIX_ALIASES: csv('further prefixes that callers may use, and get replies under'),
  },
  'Callers who speak gRPC': {
    GRPC_ENABLED: bool('answer calls of [gRPC](grpc.md) on GRPC_PORT', false),
    GRPC_PORT: integer('its port; 0 picks a free one', 8789, 0, 65_535),
    GRPC_UNARY_TIMEOUT: integer('ms that a call with one answer may take', 60_000, 1, timerMsMax),
    GRPC_STREAM_TIMEOUT: integer('ms that a call with a stream may take', 300_000, 1, timerMsMax),
    GRPC_FAILURES: oneOf(
      'where failed requests are told: `body` = in the answer, with call status OK, `status` = by the call’s status',
      ['body', 'status'],
      'body',
    ),
  },
  'Bodies of requests': {
    REQUEST_BODY_BYTES_MAX: integer('largest JSON body, bytes', 10 * 1024 * 1024, 1024),
    FORM_BODY_BYTES_MAX: integer('largest multipart form, bytes', 32 * 1024 * 1024, 1024),
    HELD_BODY_BYTES_MAX: integer(
      'bytes of bodies held for all requests together, pictures fetched for them included, those beyond 64 KiB each; more are told to come again',
      96 * 1024 * 1024,
      1024 * 1024,
    ),
    REQUEST_BODY_RATE_MIN: integer(
      'bytes a second that a body read whole must arrive with on average; 0 = any',
      1024,
      0,
    ),
    REQUEST_BODY_GRACE: integer(
      'ms before REQUEST_BODY_RATE_MIN is looked at',
      10_000,
      0,
      timerMsMax,
    ),
    REQUEST_BODY_TIMEOUT: integer(
      'ms for a body read whole, however fast it arrives; 0 = any time',
      300_000,
      0,
      timerMsMax,
    ),
  },
  'What a request may ask for': {
    BLOCK_INLINE_CONFIG: bool('saved-only mode for the whole gateway', false),
    PRICE_FILES_DIR: optionalText(
      'folder with [price files](prices.md) of your own, read again when they change',
    ),
    MODEL_FACTS_FILE: optionalText(
      'JSON file with what models take, where it is known better here than in [the table](models.md)',
    ),
    FACTS_PUBLIC_KEY_FILE: factsKeySetting,
    GUARDRAIL_FEEDBACK: bool('write what guardrails think of requests to the ledger', true),
    SKIP_DATAPLANE_CONFIG_CHECK: bool(
      'let files, batches and fine-tuning jobs be made by configs of several targets',
      false,
    ),
    PASS_VENDOR_SECRETS: bool(
      'let callers have what a provider hands out for a stored credential: ephemeral keys, and sessions that nobody here counts',
      false,
    ),
    STRICT_PARAMS: bool(
      'refuse requests with fields the provider’s format cannot carry, in place of leaving them out',
      false,
    ),
    MAX_ROOT_CONFIG_TARGETS: integer(
      'targets at the top of a config, as at the control plane',
      100,
      1,
    ),
    MAX_CONDITIONAL_ROOT_CONFIG_TARGETS: integer('the same for conditional configs', 1000, 1),
    MAX_NESTED_CONFIG_TARGETS: integer('targets below one target at the top', 50, 1),
    ATTEMPTS_PER_REQUEST_MAX: integer(
      'calls, retries, second calls and refused targets of one request together',
      30,
      1,
    ),
    READ_ON_MAX: integer(
      'answers that are read on at once after their callers left, where a config asks for it',
      50,
      0,
    ),
    READ_ON_TIMEOUT: integer('ms after which such an answer is cancelled', 60_000, 1, timerMsMax),
    ROUTING_TIMEOUT: integer(
      'ms since its arrival after which a request begins no further call',
      600_000,
      1,
      timerMsMax,
    ),
    LIMIT_STORE_TIMEOUT: integer(
      'ms of silence of Redis after which each limit is counted by its rule for that',
      100,
      10,
      10_000,
    ),
    LIMIT_HOLD_EXPIRY: integer(
      'ms after which what a gateway held of limits, that says nothing of it any more, is free',
      30_000,
      1000,
      600_000,
    ),
    LIMIT_GROUPS_MAX: integer(
      'groups of one policy that are counted apart in an epoch; further ones share a counter',
      100_000,
      1,
    ),
  },
  'Calls of providers': {
    REQUEST_TIMEOUT: integer(
      'ms until a provider’s response headers; begins anew with each piece of an upload',
      300_000,
      1,
      timerMsMax,
    ),
    STREAM_IDLE_TIMEOUT: integer(
      'ms a provider may stay silent within a reply',
      300_000,
      1,
      timerMsMax,
    ),
    STREAM_FIRST_BYTE_TIMEOUT: integer(
      'ms until the first content of a stream; 0 = only REQUEST_TIMEOUT and STREAM_IDLE_TIMEOUT',
      0,
      0,
      timerMsMax,
    ),
    RESPONSE_BODY_BYTES_MAX: integer(
      'largest reply that is read, bytes; larger ones in the caller’s own format pass with their usage read on the way',
      16 * 1024 * 1024,
      1024,
    ),
    UPSTREAM_CONNECTIONS_MAX: integer(
      'connections to one provider origin; 0 = as many as there are requests',
      0,
      0,
    ),
    UPSTREAM_CONNECTIONS_WAIT: integer(
      'ms that a request waits for one of them before it is 503 `upstream.saturated`',
      5_000,
      1,
      timerMsMax,
    ),
  },
  'Sessions over WebSocket': {
    REALTIME_SESSIONS_MAX: integer('open at once in one gateway', 10_000, 1),
    REALTIME_WORKSPACE_SESSIONS_MAX: integer('of these for one workspace', 5_000, 1),
    REALTIME_KEY_SESSIONS_MAX: integer('of these for one key', 1_000, 1),
    REALTIME_CONNECT_TIMEOUT: integer(
      'ms until a provider has opened its side',
      10_000,
      1,
      timerMsMax,
    ),
    REALTIME_FRAME_BYTES_MAX: integer('largest message of either side', 16 * 1024 * 1024, 1024),
    REALTIME_PING_INTERVAL: integer(
      'ms between two pings of both sides; who answers none of them is cut',
      30_000,
      100,
      timerMsMax,
    ),
    REALTIME_IDLE_TIMEOUT: integer(
      'ms without a message after which a session is closed',
      900_000,
      1,
      timerMsMax,
    ),
    REALTIME_SESSION_TIMEOUT: integer('ms that a session may last', 7_200_000, 1, timerMsMax),
    REALTIME_TRANSLATION_STRETCH: integer(
      'ms of a translation that are one request to limits, prices and records',
      30_000,
      1000,
      600_000,
    ),
    REALTIME_VENDOR_SECRETS: bool(
      'client secrets are the provider’s own: what is said with them is neither counted nor limited, and keys with limits get none',
      false,
    ),
  },
  'MCP servers': {
    SERVER_MODE: oneOf(
      'what is answered: `mcp` = [MCP servers](mcp.md), their clients’ log-in and the registry alone, `llm` = all but these, for gateways of each kind apart',
      ['all', 'mcp', 'llm'],
      'all',
    ),
    MCP_PORT: integer(
      'a further port on which MCP servers, their clients’ log-in and the registry alone are answered; 0 = none, they are on PORT',
      0,
      0,
      65_535,
    ),
    MCP_GATEWAY_BASE_URL: url(
      'where MCP clients reach the gateway, with its scheme; unset = PUBLIC_URL, or on loopback where the request came',
    ),
    PUBLIC_URL: url('where callers reach the gateway, the same as the control plane’s'),
    MCP_ALLOWED_ORIGINS: csv(
      'origins of web pages that may call MCP servers, beside that of the address above',
    ),
    MCP_REQUEST_TIMEOUT_MS: integer(
      'ms until a server’s answer; begins anew with progress, up to ten minutes',
      60_000,
      1,
      timerMsMax,
    ),
    MCP_MEMBER_TIMEOUT_MS: integer(
      'ms that lists and sessions of a merged server wait for one member; without it, they are without what it has',
      5_000,
      1,
      timerMsMax,
    ),
    MCP_POOL_ENABLED: bool(
      'calls of who has no session share those that the gateway has with a server; without it each begins its own, as with `disablePooling` of an integration',
      true,
    ),
    MCP_POOL_MAX_LIFETIME_MS: integer(
      'ms that a session with a server is used for callers who have none',
      600_000,
      1,
      timerMsMax,
    ),
    MCP_POOL_MAX_IDLE_MS: integer('ms after which such a session is ended when unused', 300_000, 1),
    MCP_POOL_CLEANUP_INTERVAL_MS: integer(
      'ms between two looks at which of them are',
      60_000,
      1,
      timerMsMax,
    ),
    MCP_POOL_MAX_CONNECTIONS: integer('how many there are at most; the oldest go', 1000, 1),
  },
  'Tools that the gateway runs': {
    TOOL_ROUNDS_MAX: integer('how often one request may ask its model', 10, 1, 100),
    TOOL_CALLS_MAX: integer('calls of tools in one request', 64, 1, 10_000),
    TOOL_CALLS_PARALLEL_MAX: integer('of these at the same time', 8, 1, 64),
    TOOL_RUNS_TIMEOUT: integer(
      'ms since a request arrived after which no model is asked again',
      600_000,
      1,
      timerMsMax,
    ),
  },
  'Bodies that are kept': {
    ...logStoreSettings,
    CONTENT_BODY_BYTES_MAX: integer('bytes kept of one body', 1024 * 1024, 1024),
    CONTENT_MEMORY_BYTES_MAX: integer(
      'bytes of bodies in memory on their way to disk; beyond it the oldest are dropped',
      32 * 1024 * 1024,
      64 * 1024,
    ),
    CONTENT_SPOOL_BYTES_MAX: integer(
      'bytes of bodies on disk that wait for the log store; beyond it the oldest are dropped',
      1024 ** 3,
      1024 * 1024,
    ),
    ORGANISATION_HEADERS_TO_MASK: csv('headers whose values are kept as hashes only'),
  },
  OpenTelemetry: { ...receiverSettings, ...otlpSettings },
  'Kept answers': {
    CACHE_MEMORY_BYTES_MAX: integer('bytes of kept answers without Redis', 64 * 1024 * 1024, 0),
    CACHE_OBJECT_BYTES_MAX: integer('largest answer the cache keeps, bytes', 1024 * 1024, 1024),
    CACHE_FLIGHT_WAIT: integer(
      'ms a request waits for an equal one under way before it is sent itself',
      15_000,
      0,
      timerMsMax,
    ),
  },
  'Semantic cache': semanticCacheSettings,
  'Hosts that others name': {
    ...airGapHostSettings,
    TRUSTED_CUSTOM_HOSTS: csv(
      'hosts that admins may name although they are private; replaces the default list',
    ),
    TRUSTED_CALLER_HOSTS: csv(
      'the same for hosts that callers name; unset = this machine in development, else nobody',
    ),
    OWN_HOSTS: csv(
      'hosts, `host:port` and ranges of this installation, never called; beside those in other settings',
    ),
    KUBERNETES_SERVICE_HOST: optionalText(
      'set by Kubernetes: its API server, which is never called',
    ),
    OUTBOUND_VALIDATIONS_MAX: integer(
      'provider names resolved and checked at the same time for one workspace',
      5,
      1,
    ),
    DNS_RESOLVER: oneOf(
      'how names of providers are looked up; `system` = getaddrinfo, with NSS and mDNS',
      ['dns', 'system'],
      'dns',
    ),
    DNS_SERVERS: checked(
      csv('`address` or `address:port` asked in place of the system’s DNS servers'),
      checkDnsServers,
    ),
    HTTPS_PROXY: checked(
      optionalSecret('proxy to providers at https:// addresses; a URL'),
      readProxy,
    ),
    HTTP_PROXY: checked(
      optionalSecret('proxy to providers at http:// addresses; a URL'),
      readProxy,
    ),
    NO_PROXY: optionalText('providers reached without a proxy: names, addresses, ranges, or `*`'),
    // The lower-case names are the older ones, and win in common tools.
    https_proxy: checked(optionalSecret('see HTTPS_PROXY'), readProxy),
    http_proxy: checked(optionalSecret('see HTTP_PROXY'), readProxy),
    no_proxy: optionalText('see NO_PROXY'),
  },
  'This machine in the clouds': cloudSettings,
});

export type Env = ReturnType<typeof settings.readEnv>;
