import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  configCaps,
  forwardedCallerSeal,
  headerPrefixes,
  headerPrefixesBehindGateway,
} from '@sluice/contracts';
import { RefusalLog } from '@sluice/jwt';
import { createGuardedFetch, hostAndPort, makeHostRules, readProxies } from '@sluice/outbound';
import { analytics, config } from '@sluice/proto-stubs';
import { findProvider } from '@sluice/providers';
import { clientTls, createRpcClient, serveRpc, serverTls } from '@sluice/rpc';
import { createMetrics, type Logger, serveMetrics } from '@sluice/telemetry';
import { createApp } from './app.ts';
import { Barriers } from './config-sync/barriers.ts';
import { startChangeFeed } from './config-sync/change-feed.ts';
import { configServiceHandlers } from './config-sync/service.ts';
import type { Env } from './settings.ts';
import { createCredentialVault } from './kernel/credentials/envelope.ts';
import { createDatabaseClient } from './kernel/database/client.ts';
import { jsonBody } from './kernel/http/json-body.ts';
import { createAdminMetrics } from './kernel/http/metrics.ts';
import { refuseUnreadable } from './kernel/http/refuse-unreadable.ts';
import { applyMigrations } from './kernel/migrations/apply.ts';
import { createLedger } from './ledger/analytics/ledger.ts';
import { recordRefusedTokens } from './ledger/audit-logs/refused-tokens.ts';
import { sealOpenHeaders } from './models/integrations/seal-open-headers.ts';
import { allOperations, publicOperations } from './operations.ts';
import { startKeyMaintenance } from './people/api-keys/maintenance.ts';
import { createMintKey } from './people/api-keys/secrets.ts';
import { createAuthenticate } from './people/authentication/authenticate.ts';
import { createTokenAuthenticate } from './people/authentication/token-caller.ts';

export interface ControlPlane {
  readonly httpPort: number;
  readonly grpcPort: number;
  /** Undefined when metrics are switched off. */
  readonly metricsPort: number | undefined;
  /** Stops accepting, lets requests under way end, closes everything. */
  close(): Promise<void>;
}

/** Builds every client once, hands them down, and listens. Nothing else constructs a client. */
export async function startControlPlane(
  env: Env,
  logger: Logger,
  now: () => Date = () => new Date(),
): Promise<ControlPlane> {
  const applied = await applyMigrations(env.DATABASE_URL);
  if (applied.length > 0) logger.info({ migrations: applied }, 'migrations applied');

  const client = createDatabaseClient({
    url: env.DATABASE_URL,
    connectionsMax: env.DATABASE_CONNECTIONS_MAX,
  });
  const feed = startChangeFeed({ databaseUrl: env.DATABASE_URL, logger });
  const barriers = new Barriers({ feed, db: client });
  const vault = createCredentialVault(env.MASTER_KEY);
  const sealed = await sealOpenHeaders(client, vault);
  if (sealed > 0) logger.info({ rows: sealed }, 'headers that were kept in clear are sealed');
  const mintKey = createMintKey({ prefix: env.API_KEY_PREFIX, pepper: env.KEY_PEPPER });
  const metrics = createMetrics({ app: env.SERVICE_NAME, env: env.NODE_ENV });
  const ledgerClient = createRpcClient(analytics.AnalyticsService, {
    address: env.DATA_SERVICE_GRPC_URL,
    token: env.SERVICE_CLIENT_AUTH,
    tls: clientTls(env),
    allowInsecure: env.GRPC_ALLOW_INSECURE,
  });
  const hostRules = makeHostRules({
    trusted: env.TRUSTED_CUSTOM_HOSTS,
    production: env.NODE_ENV === 'production',
    ownHosts: env.OWN_HOSTS ?? [],
    ownParts: [
      hostAndPort(env.HOST, env.PORT),
      hostAndPort(env.HOST, env.GRPC_PORT),
      hostAndPort(env.HOST, env.METRICS_PORT),
      env.DATA_SERVICE_GRPC_URL,
      env.DATABASE_URL,
      env.KUBERNETES_SERVICE_HOST,
    ],
  });
  for (const { setting, ...dropped } of hostRules.dropped)
    logger.warn(dropped, `an entry of ${setting} is not used`);
  const fetch = createGuardedFetch({
    rules: hostRules,
    resolver: env.DNS_RESOLVER,
    dnsServers: env.DNS_SERVERS,
    proxies: readProxies({
      httpsProxy: env.HTTPS_PROXY,
      httpProxy: env.HTTP_PROXY,
      noProxy: env.NO_PROXY,
    }),
  });
  const refusals = new RefusalLog({
    write: (report) => recordRefusedTokens(client, report, now()),
    onError: (error) => logger.error({ err: error }, 'refused tokens were not written down'),
  });
  const app = createApp({
    logger,
    requestContext: {
      trustedProxies: env.TRUSTED_PROXIES ?? [],
      forwardedCallers: forwardedCallerSeal(env.SERVICE_CLIENT_AUTH),
      headerPrefixes: headerPrefixesBehindGateway(
        headerPrefixes(env.HEADER_PREFIX, env.HEADER_PREFIX_ALIASES),
      ),
    },
    publicHeaderPrefix: env.HEADER_PREFIX,
    publicOperations: publicOperations({ mintKey }),
    operations: allOperations({
      mintKey,
      integrations: { vault, catalogueId: (name) => findProvider(name)?.id },
      authSettings: { vault, hostRules },
      ledger: createLedger(ledgerClient),
      configCaps: {
        ...configCaps,
        rootTargetsMax: env.MAX_ROOT_CONFIG_TARGETS,
        conditionalRootTargetsMax: env.MAX_CONDITIONAL_ROOT_CONFIG_TARGETS,
        nestedTargetsMax: env.MAX_NESTED_CONFIG_TARGETS,
      },
      registries: { vault, hostRules, fetch },
    }),
    operationParts: {
      client,
      authenticate: createAuthenticate({
        db: client,
        pepper: env.KEY_PEPPER,
        now,
        authenticateToken: env.JWT_ENABLED
          ? createTokenAuthenticate({ db: client, vault, fetch, refusals, now })
          : undefined,
      }),
      jsonBody: jsonBody({ bytesMax: env.REQUEST_BODY_BYTES_MAX }),
      now,
      logger,
      publicUrl: env.PUBLIC_URL?.replace(/\/+$/, ''),
      whenPassed: (barrier) => barriers.whenPassed(barrier),
      observe: createAdminMetrics(metrics),
    },
    health: {
      missing: async () => [
        ...((await answers(client.$queryRaw`SELECT 1`)) ? [] : ['database']),
        ...(feed.isLive ? [] : ['change-feed']),
      ],
    },
  });

  const draining = new AbortController();
  const rpc = await serveRpc({
    host: env.HOST,
    port: env.GRPC_PORT,
    token: env.SERVICE_CLIENT_AUTH,
    allowInsecure: env.GRPC_ALLOW_INSECURE,
    tls: serverTls(env),
    onError: (error, method) =>
      logger.error({ err: error, cause: error.cause, method }, 'gRPC call failed'),
  });
  rpc.add(
    config.ConfigService,
    configServiceHandlers({ client, vault, feed, barriers, now, draining: draining.signal }),
  );
  const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, app);
  refuseUnreadable(server);
  await listen(server, env.HOST, env.PORT);
  const metricsListener = env.ENABLE_PROMETHEUS
    ? await serveMetrics(metrics, { host: env.HOST, port: env.METRICS_PORT })
    : undefined;
  const maintenance = startKeyMaintenance({
    client,
    now,
    logger,
    intervalMs: env.KEY_MAINTENANCE_INTERVAL,
  });

  return {
    httpPort: (server.address() as AddressInfo).port,
    grpcPort: rpc.port,
    metricsPort: metricsListener?.port,
    async close() {
      draining.abort();
      metricsListener?.close();
      await Promise.all([
        maintenance.stop(),
        closeServer(server, env.DRAIN_TIMEOUT),
        rpc.close(env.DRAIN_TIMEOUT),
      ]);
      ledgerClient.close();
      await Promise.all([fetch.close(), refusals.stop()]);
      barriers.stop();
      await feed.stop();
      await client.$disconnect();
    },
  };
}

/** Whether the database answers within two seconds. */
function answers(query: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, 2_000, false);
  query.then(
    () => resolve(true),
    () => resolve(false),
  );
  return promise.finally(() => clearTimeout(timer));
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
