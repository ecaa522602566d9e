import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { SluicePorts } from './sluice-ports.ts';

/** Made once for an installation and kept with its data: with other values the data cannot be read. */
export interface SluiceSecrets {
  service_token: string;
  key_pepper: string;
  master_key: string;
  snapshot_key: string;
  postgres_password: string;
}

export function createSecrets(): SluiceSecrets {
  return {
    service_token: randomBytes(32).toString('base64url'),
    key_pepper: randomBytes(32).toString('hex'),
    master_key: randomBytes(32).toString('hex'),
    snapshot_key: randomBytes(32).toString('hex'),
    postgres_password: randomBytes(24).toString('base64url'),
  };
}

/** What a person needs to use the installation; the content of `credentials.json`. */
export interface SluiceCredentials {
  base_url: string;
  admin_key: string;
  workspace_key: string;
  organisation_id: string;
  workspace_id: string;
  workspace_slug: string;
  demo_provider: string;
}

type Environment = Record<string, string | undefined>;

export interface SettingsInput {
  dataDir: string;
  ports: SluicePorts;
  secrets: SluiceSecrets;
  databaseUrl: string;
  natsUrl?: string | undefined;
  redisUrl?: string | undefined;
  clickhouseUrl?: string | undefined;
  demoUpstreamUrl?: string;
  /** Where gateways listen. */
  host?: string;
  moreGatewayPorts?: readonly number[];
  /** A person's own variables. */
  environment?: Readonly<Environment>;
}

/** What suits one machine; a person's own variables come before these. */
export function machineDefaults(own: Environment): Environment {
  return {
    // Model servers on this machine may be tried, but for our own parts. Whoever
    // has said which hosts to trust has said all of it.
    ...(own.TRUSTED_CUSTOM_HOSTS === undefined
      ? { TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost', TRUSTED_CALLER_HOSTS: '127.0.0.1,localhost' }
      : {}),
    // Whoever presses Ctrl-C waits for this.
    DRAIN_TIMEOUT: '5000',
  };
}

/** Where this machine reaches what listens there, as it stands in a URL. */
export function reachable(host = '127.0.0.1'): string {
  if (host === '0.0.0.0' || host === '::' || host === '') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** All that listens on this machine, but for the demo upstream, which is there to be called. */
export function ownHosts(
  { demoUpstream: _, ...ports }: SluicePorts,
  moreGatewayPorts: readonly number[],
  stores: readonly (string | undefined)[],
): readonly string[] {
  const here = [...Object.values(ports), ...moreGatewayPorts].map((port) => `127.0.0.1:${port}`);
  const elsewhere = stores.flatMap((url) =>
    url !== undefined && URL.canParse(url) && new URL(url).port !== '' ? [new URL(url).host] : [],
  );
  return [...new Set([...here, ...elsewhere])];
}

/** The environment of each service, from one description of the installation. */
export function serviceEnvironments(input: SettingsInput): {
  gateway(index: number, port: number): Environment;
  controlPlane: Environment;
  dataService: Environment;
  demoUpstream: Environment;
} {
  const { dataDir, ports, secrets } = input;
  const dataServiceGrpc = `127.0.0.1:${ports.dataServiceGrpc}`;
  const all: Environment = {
    HOST: '127.0.0.1',
    NODE_ENV: 'production',
    SERVICE_CLIENT_AUTH: secrets.service_token,
    KEY_PEPPER: secrets.key_pepper,
    OWN_HOSTS: [
      ...(input.environment?.OWN_HOSTS?.split(',') ?? []),
      ...ownHosts(ports, input.moreGatewayPorts ?? [], [
        input.databaseUrl,
        input.natsUrl,
        input.redisUrl,
        input.clickhouseUrl,
      ]),
    ].join(','),
  };
  // A person's own store, or a folder beside the other data.
  const logStore: Environment =
    input.environment?.LOG_STORE === undefined
      ? { LOG_STORE: 'local', LOG_STORE_DIR: join(dataDir, 'logs') }
      : {};
  return {
    gateway: (index, port) => ({
      ...all,
      ...logStore,
      HOST: input.host ?? all.HOST,
      PORT: String(port),
      // Whoever wants those of further gateways names their ports.
      GRPC_PORT: String(index === 0 ? ports.gatewayGrpc : 0),
      METRICS_PORT: String(index === 0 ? ports.gatewayMetrics : 0),
      CONTROL_PLANE_GRPC_URL: `127.0.0.1:${ports.controlPlaneGrpc}`,
      CONTROL_PLANE_URL: `http://127.0.0.1:${ports.controlPlane}`,
      DATA_SERVICE_GRPC_URL: dataServiceGrpc,
      DATA_DIR: join(dataDir, index === 0 ? 'gateway' : `gateway-${index + 1}`),
      SNAPSHOT_KEY: secrets.snapshot_key,
      NATS_URL: input.natsUrl,
      REDIS_URL: input.redisUrl,
    }),
    controlPlane: {
      ...all,
      ...logStore,
      PORT: String(ports.controlPlane),
      GRPC_PORT: String(ports.controlPlaneGrpc),
      METRICS_PORT: String(ports.controlPlaneMetrics),
      DATABASE_URL: input.databaseUrl,
      MASTER_KEY: secrets.master_key,
      DATA_SERVICE_GRPC_URL: dataServiceGrpc,
      NATS_URL: input.natsUrl,
      DEMO_UPSTREAM_URL: input.demoUpstreamUrl ?? `http://127.0.0.1:${ports.demoUpstream}/v1`,
    },
    dataService: {
      ...all,
      ...logStore,
      CONTROL_PLANE_GRPC_URL: `127.0.0.1:${ports.controlPlaneGrpc}`,
      GATEWAY_URL: `http://127.0.0.1:${ports.gateway}`,
      PORT: String(ports.dataService),
      GRPC_PORT: String(ports.dataServiceGrpc),
      CLICKHOUSE_URL: input.clickhouseUrl,
      CLICKHOUSE_DATA_DIR: join(dataDir, 'clickhouse'),
      NATS_URL: input.natsUrl,
    },
    demoUpstream: { HOST: '127.0.0.1', PORT: String(ports.demoUpstream) },
  };
}
