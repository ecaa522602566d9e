import { join } from 'node:path';
import {
  freePort,
  freePorts,
  type PartName,
  type ServiceName,
  type Sluice,
  type SluiceCredentials,
  type SluiceOptions,
  type SluicePorts,
  type SluiceSecrets,
  type Supervised,
  startSluice,
} from '@sluice/stack';
import { inject } from 'vitest';
import { knowHowToBringBack } from './bring-back.ts';
import { builtServices } from './built-service.ts';
import type {} from './global-setup.ts';
import { newInstallation } from './installation.ts';
import { startNats } from './nats.ts';
import { prepareLedger } from './prepare-ledger.ts';
import { startRedis } from './redis.ts';
import { type Relay, startRelay } from './relay.ts';
import { compileCacheDir, temporaryFolder } from './run-folder.ts';
import { superviseHosted } from './service-host/supervise-hosted.ts';
import type { SpawnedServer } from './spawned-server.ts';

export interface TestStackOptions {
  /** How many gateways; each has a port and a data folder of its own. */
  gateways?: number;
  /** Usage travels through a real NATS instead of gRPC. */
  nats?: boolean;
  /** Counters live in a real Redis instead of memory. */
  redis?: boolean;
  /** Bodies of requests are kept in a folder, as `npm start` has it. */
  logStore?: boolean;
  /**
   * The ledger stores and rolls up as in production, for tests that ask it for records. Else they are stored once a
   * second, each insert being 35 ms of CPU in the embedded engine, which makes up to five a second, and nothing is rolled up.
   */
  promptLedger?: boolean;
  /** Variables for one part: `{ gateway: { REQUEST_TIMEOUT: '500' } }`. What is changed in it holds when the part starts again. */
  environment?: SluiceOptions['partEnvironment'];
  /**
   * Services that have a process of their own, for tests that kill one, look at it from outside, or give it flags;
   * the others share one (docs/decisions/0090).
   */
  processes?: true | readonly ServiceName[];
  /** The control plane asks Postgres through a relay, which a test can take away from this stack alone. */
  relaysPostgres?: boolean;
  /** Files that parts run as, in place of those built of these sources; read when a part starts. */
  builtParts?: SluiceOptions['builtParts'];
}

export interface TestStack {
  readonly credentials: SluiceCredentials;
  readonly ports: SluicePorts;
  /** What it was made with. */
  readonly secrets: SluiceSecrets;
  /** With which the services ask one another. */
  readonly serviceToken: string;
  /** Origins without a path, one a gateway. */
  readonly gatewayUrls: readonly string[];
  /** Of the first gateway. */
  readonly gatewayMetricsUrl: string;
  readonly controlPlaneUrl: string;
  readonly dataServiceUrl: string;
  readonly demoUpstreamUrl: string;
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly nats: SpawnedServer | undefined;
  readonly redis: SpawnedServer | undefined;
  readonly postgresRelay: Relay | undefined;
  /** `kill()` leaves it down; `start()` brings it back on its port and data. */
  part(name: PartName): Supervised;
  stop(): Promise<void>;
}

/** All of Sluice on free ports with a new installation, as separate processes. Nothing restarts by itself. */
export async function startStack(options: TestStackOptions = {}): Promise<TestStack> {
  const ports = await freePorts();
  const moreGatewayPorts = await Promise.all(
    Array.from({ length: (options.gateways ?? 1) - 1 }, freePort),
  );
  const [dataDir, { databaseUrl, secrets, credentials }, built, nats, redis] = await Promise.all([
    stackFolder(),
    newInstallation(),
    builtServices(),
    options.nats === true ? startNats() : undefined,
    options.redis === true ? startRedis() : undefined,
  ]);
  const origin = (port: number) => `http://127.0.0.1:${port}`;
  const postgresRelay =
    options.relaysPostgres === true
      ? await startRelay(Number(new URL(databaseUrl).port))
      : undefined;
  const stopServers = () => Promise.all([nats?.stop(), redis?.stop(), postgresRelay?.down()]);
  const hosted = new Set<Supervised>();
  let sluice: Sluice;
  try {
    sluice = await startSluice({
      dataDir,
      ports,
      secrets,
      credentials: { ...credentials, base_url: `${origin(ports.gateway)}/v1` },
      restart: false,
      compileCacheDir: compileCacheDir(),
      builtServices: built,
      builtParts: options.builtParts,
      runService(service, spec) {
        const { processes = [] } = options;
        const apart = processes === true || processes.includes(service);
        if (apart || options.builtParts !== undefined) return undefined;
        const part = superviseHosted(service, spec);
        hosted.add(part);
        return part;
      },
      demoUpstreamUrl: inject('demoUpstreamUrl'),
      databaseUrl: withPort(databaseUrl, postgresRelay?.port),
      isMigrated: true,
      natsUrl: nats?.url,
      redisUrl: redis?.url,
      moreGatewayPorts,
      environment: options.logStore === true ? {} : { LOG_STORE: '' },
      partEnvironment: {
        ...options.environment,
        get 'data-service'() {
          return {
            ...(options.promptLedger !== true && lazyLedger),
            ...options.environment?.['data-service'],
          };
        },
      },
    });
  } catch (error) {
    await stopServers();
    throw error;
  }
  const forget = knowHowToBringBack(async () => {
    await postgresRelay?.up();
    for (const part of sluice.parts.values())
      if (!hosted.has(part) && part.pid !== undefined) process.kill(part.pid, 'SIGCONT');
    await Promise.all([...sluice.parts.values()].map((part) => part.start()));
  });
  return {
    credentials: sluice.credentials,
    ports,
    secrets,
    serviceToken: secrets.service_token,
    gatewayUrls: [ports.gateway, ...moreGatewayPorts].map(origin),
    gatewayMetricsUrl: `${origin(ports.gatewayMetrics)}/metrics`,
    controlPlaneUrl: origin(ports.controlPlane),
    dataServiceUrl: origin(ports.dataService),
    demoUpstreamUrl: new URL(inject('demoUpstreamUrl')).origin,
    databaseUrl,
    dataDir,
    nats,
    redis,
    postgresRelay,
    part(name) {
      const part = sluice.parts.get(name);
      if (part === undefined) throw new Error(`There is no part ${name} in this stack.`);
      return part;
    },
    async stop() {
      forget();
      await sluice.stop();
      await stopServers();
    },
  };
}

const lazyLedger = { INSERT_INTERVAL: '1000', ANALYTICS_ROLL_UPS: 'false' };

function withPort(address: string, port: number | undefined): string {
  const url = new URL(address);
  if (port !== undefined) url.port = String(port);
  return url.href;
}

async function stackFolder(): Promise<string> {
  const folder = await temporaryFolder('stack');
  await prepareLedger(join(folder, 'clickhouse'));
  return folder;
}
