import { SealedAddresses } from '@sluice/a2a';
import {
  configCaps,
  forwardedCallerSeal,
  headerPrefixes,
  headerPrefixesBehindGateway,
  jobTokenSeal,
  pepperName,
} from '@sluice/contracts';
import { ofSettings, readableFolder, SettingsError } from '@sluice/env';
import { RefusalLog } from '@sluice/jwt';
import { expectLogStoreWithin, logStoreEnvOf, openLogStore } from '@sluice/object-store';
import { isWithinGap } from '@sluice/outbound';
import { priceFilesPart } from '@sluice/price-files';
import { PriceBook } from '@sluice/pricing';
import { analytics, config, jobs } from '@sluice/proto-stubs';
import { findProvider, providerIds } from '@sluice/providers';
import { clientTls, createRpcClient, serverTls, Unavailable } from '@sluice/rpc';
import {
  airGapPart,
  createHttpServer,
  createPartnerWatch,
  createRpcMetrics,
  httpPart,
  type Part,
  rpcPart,
  type ServiceTools,
  served,
} from '@sluice/service';
import { loadPublicKeys } from '@sluice/signed-files';
import { explainedBy, sparingOutages } from '@sluice/telemetry';
import { createApp } from './app.ts';
import { batchHandlers } from './batches/batch-service.ts';
import { fileHandlers } from './batches/file-service.ts';
import { jobHandlers } from './batches/job-service.ts';
import { uploadHandlers } from './batches/upload-service.ts';
import { Barriers } from './config-sync/barriers.ts';
import { createChangeFeed } from './config-sync/change-feed.ts';
import { createQuestionMetrics } from './config-sync/metrics.ts';
import { configServiceHandlers } from './config-sync/service.ts';
import { usersOfProvider } from './documents/configs/named-by.ts';
import { followHandlers } from './followed/follow-service.ts';
import { createCredentialVault } from './kernel/credentials/envelope.ts';
import { createDatabaseClient } from './kernel/database/client.ts';
import { databaseOutages } from './kernel/database/outages.ts';
import { createDownloads } from './kernel/http/downloads.ts';
import { IdempotencyKeys } from './kernel/http/idempotency.ts';
import { jsonBody } from './kernel/http/json-body.ts';
import { createAdminMetrics, rpcSeriesMax } from './kernel/http/metrics.ts';
import { createRecordRefusal } from './kernel/http/record-refusal.ts';
import { refuseUnreadable } from './kernel/http/refuse-unreadable.ts';
import { createSchemaGate } from './kernel/migrations/wait-for-schema.ts';
import { findNamedWorkspace } from './kernel/tenancy/target-workspace.ts';
import { createLedger, ledgerOutages } from './ledger/analytics/ledger.ts';
import { recordRefusedTokens } from './ledger/audit-logs/refused-tokens.ts';
import { ExportLinks } from './ledger/log-exports/export-links.ts';
import { AlertSender } from './limits/alerts/alert-sender.ts';
import { createAlertPublisher, natsChannel } from './limits/alerts/nats-publisher.ts';
import { webhookChannel } from './limits/alerts/webhook-channel.ts';
import { sealOpenHeaders } from './models/integrations/seal-open-headers.ts';
import { oauthPart } from './oauth/oauth-part.ts';
import { allOperations, publicOperations } from './operations.ts';
import { logExportsPart } from './parts/log-exports.ts';
import { maintenancePart } from './parts/maintenance.ts';
import { outboundPart } from './parts/outbound.ts';
import { createMintKey } from './people/api-keys/secrets.ts';
import { createAuthenticate } from './people/authentication/authenticate.ts';
import { createTokenAuthenticate } from './people/authentication/token-caller.ts';
import type { Env } from './settings.ts';
import { Simulator } from './simulation/simulator.ts';
import { IntegrationTokens } from './tools/upstream-oauth/integration-tokens.ts';
import { SignIns } from './tools/upstream-oauth/sign-ins.ts';
import { UpstreamClients } from './tools/upstream-oauth/upstream-client.ts';
import { UserConnections } from './tools/upstream-oauth/user-connections.ts';

/** Builds every client once and hands it down. Nothing else constructs a client. */
export function wire(
  env: Env,
  { logger: all, metrics, now = () => new Date() }: ServiceTools & { now?: () => Date },
): readonly Part[] {
  const client = createDatabaseClient({
    url: env.DATABASE_URL,
    connectionsMax: env.DATABASE_CONNECTIONS_MAX,
    preparedMax: env.DATABASE_PREPARED_STATEMENTS,
  });
  const database = databaseOutages(all, () => client.$queryRaw`SELECT 1`);
  const ledgerPlace = {
    address: env.DATA_SERVICE_GRPC_URL,
    token: env.SERVICE_CLIENT_AUTH,
    tls: clientTls(env),
    allowInsecure: env.GRPC_ALLOW_INSECURE,
  };
  const partner = createPartnerWatch({
    role: 'control-plane',
    partner: 'data-service',
    gauge: 'sluice_ledger_refused',
    logger: all,
  });
  const ledgerClient = createRpcClient(analytics.AnalyticsService, {
    ...ledgerPlace,
    handshake: partner.handshake,
  });
  const dataService = ledgerOutages(all, ledgerClient, ledgerPlace.address);
  const isOfDatabase = explainedBy(database);
  const isOfLedger = explainedBy(dataService);
  const isOutage = (error: unknown) => isOfDatabase(error) || isOfLedger(error);
  const logger = sparingOutages(all, isOutage);
  const schema = createSchemaGate(env.DATABASE_URL, logger);
  const feed = createChangeFeed({ databaseUrl: env.DATABASE_URL, logger });
  const barriers = new Barriers({ feed, db: client, logger });
  const vault = createCredentialVault(env.MASTER_KEY, env.MASTER_KEY_ALSO);
  const jobTokens = jobTokenSeal(env.SERVICE_CLIENT_AUTH, env.SERVICE_CLIENT_AUTH_ALSO);
  const mintKey = createMintKey({ prefix: env.API_KEY_PREFIX, pepper: env.KEY_PEPPER });
  const { hostRules, fetch, part: outbound } = outboundPart(env, logger);
  const refusals = new RefusalLog({
    write: (report) => recordRefusedTokens(client, report, now()),
    onError: (error) => logger.error({ err: error }, 'refused tokens were not written down'),
  });
  const priceBook = new PriceBook();
  const priceFiles = priceFilesPart({
    dir: env.PRICE_FILES_DIR && readableFolder('PRICE_FILES_DIR', env.PRICE_FILES_DIR),
    keys: loadPublicKeys('FACTS_PUBLIC_KEY_FILE', env.FACTS_PUBLIC_KEY_FILE),
    providers: providerIds(),
    use(files) {
      priceBook.files = files;
    },
    logger,
  });
  const ledger = createLedger(ledgerClient);
  expectLogStoreWithin(env, (origin) => isWithinGap(origin, hostRules));
  const logStore = openLogStore(env);
  const simulator = new Simulator(
    {
      ledger: ledgerPlace,
      storeEnv: logStoreEnvOf(env),
      priceFilesDir: env.PRICE_FILES_DIR,
      factsKeyFile: env.FACTS_PUBLIC_KEY_FILE,
    },
    env.SIMULATIONS_AT_ONCE,
  );
  const links = new ExportLinks(
    [env.MASTER_KEY, ...env.MASTER_KEY_ALSO],
    env.LOG_EXPORT_LINK_SECONDS * 1000,
  );
  const authenticate = createAuthenticate({
    db: client,
    peppers: [env.KEY_PEPPER, ...env.KEY_PEPPER_ALSO],
    now,
    authenticateToken: env.JWT_ENABLED
      ? createTokenAuthenticate({ db: client, vault, fetch, refusals, now })
      : undefined,
  });
  const tokens = new IntegrationTokens({ client, vault, fetch, now, logger });
  const clients = new UpstreamClients({ client, vault, now });
  const whenPassed = (barrier: string) => barriers.whenPassed(barrier);
  const connections = new UserConnections({
    ...{ client, vault, fetch, clients, whenPassed, now, logger },
  });
  const oauth = oauthPart({
    client,
    vault,
    fetch,
    hostRules,
    peppers: [env.KEY_PEPPER, ...env.KEY_PEPPER_ALSO],
    masterKeys: [env.MASTER_KEY, ...env.MASTER_KEY_ALSO],
    addresses: { mcp: env.MCP_GATEWAY_BASE_URL, public: env.PUBLIC_URL },
    privateKey: env.JWT_PRIVATE_KEY,
    keyDays: env.MCP_SIGNING_KEY_DAYS,
    whenPassed,
    signIns: new SignIns({ client, vault, fetch, hostRules, clients, connections, now }),
    connections,
    logger,
    now,
  });
  let isRetired = false;
  const downloads = createDownloads();
  const app = createApp({
    logsRequests: env.LOG_REQUESTS,
    logger,
    isOutage,
    requestContext: {
      trustedProxies: env.TRUSTED_PROXIES ?? [],
      forwardedCallers: forwardedCallerSeal(env.SERVICE_CLIENT_AUTH, env.SERVICE_CLIENT_AUTH_ALSO),
      isLenient: env.LENIENT_INPUT,
      headerPrefixes: headerPrefixesBehindGateway(
        ofSettings(() => headerPrefixes(env.HEADER_PREFIX, env.HEADER_PREFIX_ALIASES)),
      ),
    },
    publicHeaderPrefix: env.HEADER_PREFIX,
    publicOperations: publicOperations({ mintKey }),
    operations: allOperations({
      client,
      mintKey,
      integrations: {
        vault,
        catalogueId: (name) => findProvider(name)?.id,
        usersOfProvider,
        fetch,
        hostRules,
      },
      catalogue: {
        has: (name) => findProvider(name.toLowerCase()) !== undefined,
        ids: providerIds(),
      },
      authSettings: { vault, hostRules },
      alertSettings: { vault, hostRules },
      ledger,
      logStore,
      logExports: { links, hasStore: logStore !== undefined },
      priceBook,
      configCaps: {
        ...configCaps,
        rootTargetsMax: env.MAX_ROOT_CONFIG_TARGETS,
        conditionalRootTargetsMax: env.MAX_CONDITIONAL_ROOT_CONFIG_TARGETS,
        nestedTargetsMax: env.MAX_NESTED_CONFIG_TARGETS,
      },
      registries: {
        vault,
        hostRules,
        fetch,
        tokens,
        connections,
        sealedAddresses: new SealedAddresses(env.SERVICE_CLIENT_AUTH),
      },
      simulator,
    }),
    operationParts: {
      client,
      authenticate,
      nameWorkspace: (caller, body, query) => findNamedWorkspace(client, caller, body, query),
      jsonBody: jsonBody({ bytesMax: env.REQUEST_BODY_BYTES_MAX }),
      now,
      recordRefusal: createRecordRefusal({ client, logger }),
      idempotencyKeys: new IdempotencyKeys(client, vault),
      publicUrl: env.PUBLIC_URL?.replace(/\/+$/, ''),
      mcpBaseUrl: env.MCP_GATEWAY_BASE_URL,
      whenPassed,
      downloads,
      observe: createAdminMetrics(metrics),
    },
    priceBook,
    exportFiles: { db: client, links, store: logStore, downloads, now },
    otel: {
      db: client,
      authenticate,
      ledger,
      book: priceBook,
      now,
      bodyBytesMax: env.OTEL_BODY_BYTES_MAX,
    },
    oauth: oauth.routes,
    isServing: () => schema.isReady,
    health: {
      missing: async () => [
        ...(isRetired ? ['draining'] : []),
        ...(schema.fault === undefined ? [] : [schema.fault]),
        ...((await answers(client.$queryRaw`SELECT 1`)) ? [] : ['database']),
        ...(feed.isLive ? [] : ['change-feed']),
      ],
    },
  });

  const publisher = env.NATS_URL === undefined ? undefined : createAlertPublisher(env.NATS_URL);
  const alertChannels = [
    webhookChannel({ client, vault, fetch, now, logger }),
    ...(publisher === undefined ? [] : [natsChannel(publisher, logger)]),
  ];
  // Each on its own: one that is away keeps nothing of another waiting.
  const alerts = alertChannels.map(
    (channel) => new AlertSender({ client, now, logger }, channel, env.ALERT_INTERVAL),
  );
  const draining = new AbortController();
  const tls = serverTls(env);
  if (env.HTTP_TLS_ENABLED && tls === undefined)
    throw new SettingsError(['HTTP_TLS_ENABLED needs TLS_CERT_PATH and TLS_KEY_PATH.']);
  const server = createHttpServer(
    { requestTimeout: 30_000, headersTimeout: 10_000 },
    env.HTTP_TLS_ENABLED ? tls : undefined,
    app,
  );
  refuseUnreadable(server);
  const files = {
    client,
    vault,
    now,
    filesMax: env.FILES_PER_WORKSPACE_MAX,
    keptMs: env.FILE_KEEP_DAYS * 86_400_000,
    responses: {
      countMax: env.RESPONSES_PER_WORKSPACE_MAX,
      bytesMax: env.RESPONSES_BYTES_PER_WORKSPACE_MAX,
      keptMs: env.RESPONSE_KEEP_DAYS * 86_400_000,
    },
  };

  return [
    airGapPart({
      isOn: env.AIRGAP,
      addresses: [
        env.DATABASE_URL,
        env.DATA_SERVICE_GRPC_URL,
        env.NATS_URL,
        env.LOG_STORE_BASEPATH,
        env.OTEL_ENDPOINT,
        ...(env.AIRGAP_HOSTS ?? []),
      ],
      logger,
    }),
    priceFiles,
    // Before the database, which may have to be waited for: health checks are answered meanwhile, and nothing else.
    httpPart({ server, host: env.HOST, port: env.PORT }),
    {
      name: 'database',
      async start(stopping) {
        if (!(await schema.wait(stopping))) return;
        const sealed = await sealOpenHeaders(client, vault);
        if (sealed > 0) logger.info({ rows: sealed }, 'headers that were kept in clear are sealed');
        // Prisma's compiler is loaded by the first question; gateways that come back all at once would wait for it.
        await client.organisation.findFirst({ select: { id: true } });
      },
      stop() {
        for (const outage of database) outage.stop();
        return client.$disconnect();
      },
    },
    {
      name: 'change-feed',
      start: () => feed.start(),
      stop() {
        barriers.stop();
        return feed.stop();
      },
    },
    { name: 'refused-tokens', stop: () => refusals.stop() },
    outbound,
    {
      name: 'ledger',
      stop() {
        for (const outage of dataService) outage.stop();
        ledgerClient.close();
      },
      gauges: partner.gauges,
    },
    { name: 'log-store', stop: () => logStore?.close() },
    // Gateways follow for as long as they live: told to go, so that the port can close.
    { name: 'followers', drain: () => draining.abort() },
    rpcPart({
      host: env.HOST,
      port: env.GRPC_PORT,
      token: env.SERVICE_CLIENT_AUTH,
      tokensAlso: env.SERVICE_CLIENT_AUTH_ALSO,
      role: 'control-plane',
      allowInsecure: env.GRPC_ALLOW_INSECURE,
      tls,
      onConverted: createRpcMetrics(metrics, { seriesMax: rpcSeriesMax }),
      translate(error) {
        if (isOfDatabase(error)) return new Unavailable('The database cannot be reached.');
        return isOfLedger(error) ? new Unavailable('The data service cannot be reached.') : error;
      },
      logger,
      services: [
        served(
          config.ConfigService,
          configServiceHandlers({
            client,
            vault,
            pepperName: pepperName(env.KEY_PEPPER),
            pepperNames: [env.KEY_PEPPER, ...env.KEY_PEPPER_ALSO].map(pepperName),
            feed,
            barriers,
            // The others are for the admin API, whoever comes back.
            readsMax: Math.max(1, Math.floor(env.DATABASE_CONNECTIONS_MAX / 2)),
            now,
            observe: createQuestionMetrics(metrics),
            draining: draining.signal,
            ledger,
            tokens,
            connections,
            signIdentity: oauth.signIdentity,
            issuerLogins: oauth.issuerLogins,
            counters: {
              client,
              now,
              hasNats: publisher !== undefined,
              onAlert() {
                for (const sender of alerts) sender.wake();
              },
            },
          }),
        ),
        served(jobs.FileService, fileHandlers(files)),
        served(jobs.UploadService, uploadHandlers(files)),
        served(
          jobs.BatchService,
          batchHandlers({
            client,
            vault,
            pepper: env.KEY_PEPPER,
            now,
            batchesMax: env.BATCHES_PER_WORKSPACE_MAX,
            backgroundMax: env.BACKGROUND_RESPONSES_MAX,
          }),
        ),
        served(
          jobs.FollowService,
          followHandlers({
            client,
            tokens: jobTokens,
            now,
            followedMax: env.FOLLOWED_PER_WORKSPACE_MAX,
          }),
        ),
        served(
          jobs.JobService,
          jobHandlers({
            client,
            vault,
            tokens: jobTokens,
            now,
          }),
        ),
      ],
    }),
    {
      name: 'readiness',
      retire() {
        isRetired = true;
      },
    },
    {
      name: 'alerts',
      start() {
        for (const sender of alerts) sender.start();
      },
      async stop() {
        await Promise.all(alerts.map((sender) => sender.stop()));
        await publisher?.close();
      },
    },
    logExportsPart(env, { client, ledger, store: logStore, metrics, now, logger }),
    {
      name: 'simulations',
      stop: () => simulator.stop(),
      gauges: () => [
        {
          name: 'sluice_simulations_running',
          help: 'Simulations under way at this replica.',
          read: () => simulator.running,
        },
      ],
    },
    maintenancePart(env, {
      client,
      vault,
      ledger,
      ledgerClient,
      logStore,
      maintainOauth: () => oauth.maintain(),
      now,
      logger,
    }),
  ];
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
