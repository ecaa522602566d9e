import { randomBytes } from 'node:crypto';
import { inTurns, startService, temporaryFolder } from '@sluice/testkit';
import { expect, it } from 'vitest';

const key = () => randomBytes(32).toString('hex');

/** What the service says in place of starting. */
async function refusal(
  service: 'gateway' | 'control-plane' | 'data-service',
  wrong: Record<string, string>,
): Promise<string> {
  const needed = {
    PORT: '0',
    METRICS_PORT: '0',
    ...(service !== 'gateway' && { GRPC_PORT: '0' }),
    SERVICE_CLIENT_AUTH: key(),
    KEY_PEPPER: key(),
    SNAPSHOT_KEY: key(),
    MASTER_KEY: key(),
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    DATA_DIR: await temporaryFolder('wrong-settings'),
    CLICKHOUSE_DATA_DIR: await temporaryFolder('wrong-settings'),
  };
  try {
    const { stop } = await startService(service, { ...needed, ...wrong });
    await stop();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`${service} started`);
}

const wrong: readonly [Parameters<typeof refusal>[0], Record<string, string>, string][] = [
  ['gateway', { CONTROL_PLANE_URL: 'ftp://host' }, 'CONTROL_PLANE_URL must be a URL that begins'],
  ['gateway', { CONTROL_PLANE_GRPC_URL: 'http://host:1' }, 'CONTROL_PLANE_GRPC_URL must be host:'],
  ['gateway', { CONTROL_PLANE_GRPC_URL: 'host.example:8790' }, 'needs TLS; set the TLS_* variab'],
  ['gateway', { NATS_URL: 'http://u:secret@h:4222' }, 'NATS_URL must be nats://host:port'],
  ['gateway', { TRUSTED_PROXIES: '10.0.0.0/99' }, 'TRUSTED_PROXIES has 10.0.0.0/99, which is nei'],
  ['gateway', { HEADER_PREFIX: 'X-' }, 'HEADER_PREFIX: \\"X-\\" must be lower-case'],
  ['gateway', { DNS_SERVERS: '10.0.0.1,resolver' }, 'DNS_SERVERS has resolver, which is neither'],
  ['gateway', { HTTPS_PROXY: 'socks5://u:secret@h:1' }, 'HTTPS_PROXY must be the http:// or https'],
  ['gateway', { TLS_CERT: 'secret' }, 'TLS_CERT must hold a certificate as PEM'],
  ['gateway', { TLS_KEY: 'secret' }, 'TLS: a certificate and its key are needed both'],
  ['gateway', { REDIS_MODE: 'sentinel' }, 'REDIS_SENTINELS must name at least one host:port'],
  ['gateway', { REDIS_URL: 'redis://h/first' }, 'REDIS_URL must end with the number of a databa'],
  ['gateway', { OTEL_PUSH_ENABLED: 'true' }, 'OTEL_ENDPOINT must say where exports are sent'],
  ['gateway', { MCP_PORT: '1', SERVER_MODE: 'llm' }, 'MCP_PORT is of no use where'],
  ['gateway', { MODEL_FACTS_FILE: import.meta.filename }, 'MODEL_FACTS_FILE: /'],
  ['gateway', { FACTS_PUBLIC_KEY_FILE: import.meta.filename }, 'FACTS_PUBLIC_KEY_FILE: /'],
  [
    'gateway',
    { JWT_LOCAL_AUTH_DEFAULT_SCOPES: 'completions:write,completion.read' },
    'JWT_LOCAL_AUTH_DEFAULT_SCOPES has completion.read, which is no scope a JWT may have',
  ],
  ['gateway', { READ_ON_TIMEOUT: '3000000000' }, 'READ_ON_TIMEOUT must be an integer from 1 to'],
  ['control-plane', { DATABASE_URL: 'mysql://u:secret@h/d' }, 'DATABASE_URL must be postgres://'],
  ['control-plane', { API_KEY_PREFIX: 'a b' }, 'API_KEY_PREFIX must be letters, digits'],
  ['data-service', { HOST: '0.0.0.0' }, 'gRPC on 0.0.0.0 needs TLS'],
  [
    'data-service',
    { CLICKHOUSE_URL: 'tcp://u:secret@h:9000/d' },
    'CLICKHOUSE_URL must be a URL th',
  ],
  ['data-service', { OTEL_LOGS_ENABLED: 'true' }, 'OTEL_ENDPOINT must say where exports are s'],
];

// Each starts a process: the suite a third of them, of each service (`npm run test:long`: all).
it.each(inTurns(wrong, 3))(
  '%s does not start with %o, and says so in one line',
  async (service, wrong, fault) => {
    const said = await refusal(service, wrong);
    expect(said).toContain('the settings are not valid: the service does not start');
    expect(said).toContain(fault);
    expect(said).not.toMatch(/secret|"stack"/);
  },
);
