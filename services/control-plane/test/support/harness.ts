import { randomBytes } from 'node:crypto';
import { Agent } from 'node:http';
import { analytics, config, usage } from '@sluice/proto-stubs';
import {
  createRpcClient,
  type RpcClient,
  type RpcHandlers,
  type RpcServer,
  serveRpc,
} from '@sluice/rpc';
import { startService } from '@sluice/service';
import { createLogger, type Logger } from '@sluice/telemetry';
import { preparedDatabase, temporaryFolder } from '@sluice/testkit';
import supertest, { type Test } from 'supertest';
import { createCredentialVault } from '../../src/kernel/credentials/envelope.ts';
import { createDatabaseClient, type DatabaseClient } from '../../src/kernel/database/client.ts';
import { applyMigrations } from '../../src/kernel/migrations/apply.ts';
import { createMintKey } from '../../src/people/api-keys/secrets.ts';
import { createOrganisation } from '../../src/provisioning/create-organisation.ts';
import {
  ensureFirstOrganisation,
  type FirstKeys,
} from '../../src/provisioning/first-organisation.ts';
import { type Env, settings } from '../../src/settings.ts';
import { wire } from '../../src/wiring.ts';
import { heldLogs } from './held-logs.ts';
import { heldRejects } from './held-rejects.ts';
import { heldSeal, heldVerdict } from './held-seals.ts';
import { keepAdjustments } from './kept-adjustments.ts';

export const token = 'a-token-shared-by-the-services';
const demoUpstreamUrl = 'http://127.0.0.1:8799';

/** One replica, inside this process. */
export interface ControlPlane {
  readonly httpPort: number;
  readonly grpcPort: number;
  readonly metricsPort: number;
  close(): Promise<void>;
}

/** A control plane on a database of its own, with two organisations in it and a way to move its clock. */
export interface Harness {
  readonly service: ControlPlane;
  readonly env: Env;
  readonly db: DatabaseClient;
  readonly rpc: RpcClient;
  readonly first: FirstKeys;
  /** Another organisation in the same database. */
  readonly other: FirstKeys;
  readonly clock: { offsetMs: number };
  /** Requests with this key, or without one. */
  as(key: string | undefined): Caller;
  /** The same, for the few paths that are not below `/v1`. */
  atRoot(key: string | undefined): Caller;
  /** Starts another replica on the same database, with settings of its own. */
  replica(settings?: Partial<Env>): Promise<ControlPlane>;
  stop(): Promise<void>;
}

export interface Caller {
  get(path: string): Test;
  post(path: string, body?: object): Test;
  put(path: string, body?: object): Test;
  delete(path: string): Test;
}

export interface HarnessOptions {
  analytics?: Partial<RpcHandlers<typeof analytics.AnalyticsService>>;
  /** The ledger's logs; one request of the first organisation unless given. */
  logs?: Partial<RpcHandlers<typeof analytics.LogService>>;
  /** Hears of what is written to the ledger. */
  onUsage?: (records: readonly Uint8Array[]) => void;
  /** How often alerts are looked for that are to be sent again; as in production unless given. */
  alertIntervalMs?: number;
  /** A database of the test's own; an empty one on the shared server unless given. */
  databaseUrl?: string;
}

export async function startHarness(options: HarnessOptions = {}): Promise<Harness> {
  const clock = { offsetMs: 0 };
  const now = () => new Date(Date.now() + clock.offsetMs);
  const { databaseUrl, secrets, first, other } = await organisations(options.databaseUrl);
  const ledger =
    options.analytics === undefined
      ? undefined
      : await startLedger(options.analytics, first, options);
  const env: Env = settings.readEnv({
    PORT: '0',
    GRPC_PORT: '0',
    METRICS_PORT: '0',
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    DATABASE_URL: databaseUrl,
    DATABASE_CONNECTIONS_MAX: '8',
    ...secrets,
    // Tests that want a run ask for one.
    KEY_MAINTENANCE_INTERVAL: '0',
    COUNTER_MAINTENANCE_INTERVAL: '0',
    FEEDBACK_INTERVAL: '0',
    LOG_EXPORT_INTERVAL: '0',
    LOG_STORE: 'local',
    LOG_STORE_DIR: await temporaryFolder('log-store'),
    ...(options.alertIntervalMs !== undefined && {
      ALERT_INTERVAL: String(options.alertIntervalMs),
    }),
    SERVICE_CLIENT_AUTH: token,
    // Port 9 is "discard": nobody listens there.
    DATA_SERVICE_GRPC_URL: `127.0.0.1:${ledger?.port ?? 9}`,
    HEADER_PREFIX_ALIASES: 'x-portkey-',
    JWT_ENABLED: 'true',
    DRAIN_TIMEOUT: '1000',
    DEMO_UPSTREAM_URL: demoUpstreamUrl,
  });
  const logger = createLogger({
    service: 'control-plane',
    level: process.env.TEST_LOG_LEVEL ?? 'silent',
  });
  const start = (own: Partial<Env> = {}) => startReplica({ ...env, ...own }, logger, now);
  const service = await start();
  const db = createDatabaseClient({ url: env.DATABASE_URL, connectionsMax: 4 });
  const rpc = createRpcClient(config.ConfigService, {
    address: `127.0.0.1:${service.grpcPort}`,
    token,
  });
  const root = `http://127.0.0.1:${service.httpPort}`;
  // A connection for each of thousands of calls would be a tenth of their time. One that is idle goes
  // well before the service would close it, perhaps under the next call of a machine that is busy.
  const agent = new Agent({ keepAlive: true, timeout: 1000 });
  const replicas: ControlPlane[] = [];
  return {
    service,
    env,
    db,
    rpc,
    first,
    other,
    clock,
    as: (key) => callerOf(`${root}/v1`, agent, key),
    atRoot: (key) => callerOf(root, agent, key),
    async replica(settings) {
      const another = await start(settings);
      replicas.push(another);
      return another;
    },
    async stop() {
      rpc.close();
      agent.destroy();
      await Promise.all([service, ...replicas].map((each) => each.close()));
      await ledger?.close(0);
      await db.$disconnect();
    },
  };
}

async function startReplica(env: Env, logger: Logger, now: () => Date): Promise<ControlPlane> {
  const { ports, stop } = await startService({
    env,
    logger,
    wire: (told, tools) => wire(told, { ...tools, now }),
  });
  const { port = 0, grpc_port: grpcPort = 0, metrics_port: metricsPort = 0 } = ports;
  return { httpPort: port, grpcPort, metricsPort, close: stop };
}

function callerOf(base: string, agent: Agent, key: string | undefined): Caller {
  const keyed = (test: Test) => {
    test.agent(agent);
    return key === undefined ? test : test.set('x-service-api-key', key);
  };
  return {
    get: (path) => keyed(supertest(base).get(path)),
    post: (path, body) => keyed(supertest(base).post(path)).send(body),
    put: (path, body) => keyed(supertest(base).put(path)).send(body),
    delete: (path) => keyed(supertest(base).delete(path)),
  };
}

interface Organisations {
  /** What their keys and credentials were made with. */
  readonly secrets: { readonly MASTER_KEY: string; readonly KEY_PEPPER: string };
  readonly first: FirstKeys;
  readonly other: FirstKeys;
}

/** They are made once in a run, and files have copies; a database that is given gets some of its own. */
async function organisations(given?: string): Promise<Organisations & { databaseUrl: string }> {
  if (given !== undefined) return { databaseUrl: given, ...(await makeOrganisations(given)) };
  const { databaseUrl, note } = await preparedDatabase('organisations', makeOrganisations);
  return { databaseUrl, ...note };
}

async function makeOrganisations(databaseUrl: string): Promise<Organisations> {
  await applyMigrations(databaseUrl);
  const secrets = {
    MASTER_KEY: randomBytes(32).toString('hex'),
    KEY_PEPPER: randomBytes(32).toString('hex'),
  };
  const env = settings.readEnv({
    DATABASE_URL: databaseUrl,
    SERVICE_CLIENT_AUTH: token,
    ...secrets,
  });
  const parts = {
    vault: createCredentialVault(env.MASTER_KEY),
    mintKey: createMintKey({ prefix: env.API_KEY_PREFIX, pepper: env.KEY_PEPPER }),
    demoUpstreamUrl,
    now: () => new Date(),
  };
  const client = createDatabaseClient({ url: databaseUrl, connectionsMax: 1 });
  try {
    const first = await ensureFirstOrganisation({ client, ...parts });
    if (first === undefined) throw new Error('the database was not empty');
    const other = await client.$transaction((tx) => createOrganisation(tx, parts));
    return { secrets, first, other: { ...other, demo_provider: null } };
  } finally {
    await client.$disconnect();
  }
}

const gap = {
  replicaId: 'gateway-0.1f2e3d4c',
  fromSequence: 3n,
  toSequence: 4n,
  sinceMs: 1735689600000n,
  life: analytics.LifeEnd.ENDED,
};

async function startLedger(
  handlers: Partial<RpcHandlers<typeof analytics.AnalyticsService>>,
  owner: FirstKeys,
  { logs, onUsage }: Pick<HarnessOptions, 'logs' | 'onUsage'>,
): Promise<RpcServer> {
  const server = await serveRpc({ host: '127.0.0.1', port: 0, token });
  const adjustments = keepAdjustments();
  server.add(analytics.AnalyticsService, {
    getGraph: async () => ({}),
    getSummary: async () => ({}),
    listGroups: async () => ({}),
    sumCounters: async () => ({}),
    ...handlers,
  });
  server.add(usage.UsageService, {
    async writeUsage({ records }) {
      adjustments.take(records);
      onUsage?.(records);
      return {};
    },
    async *listCharges() {},
  });
  server.add(analytics.LogService, { ...heldLogs(owner), ...logs });
  server.add(analytics.LedgerService, {
    ...heldRejects(owner.organisation_id),
    listAdjustments: adjustments.list,
    listModelDays: async ({ provider }) => ({
      modelDays: [{ day: '2026-08-05', model: `${provider}-model`, requests: 1n }],
    }),
    listSealedOrganisations: async () => ({}),
    keep: async () => ({}),
    listSeals: async ({ currentPage }) => ({
      seals: currentPage === 0 ? [heldSeal] : [],
      total: 1n,
    }),
    verifySeals: async ({ organisationId }) =>
      organisationId === owner.organisation_id ? heldVerdict : { headHash: heldSeal.hash },
    listGaps: async ({ currentPage }) => ({ gaps: currentPage === 0 ? [gap] : [], total: 1n }),
  });
  return server;
}
