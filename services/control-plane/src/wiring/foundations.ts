import { jobTokenSeal } from '@sluice/contracts';
import { readableFolder } from '@sluice/env';
import { RefusalLog } from '@sluice/jwt';
import {
  expectLogStoreWithin,
  logOfStore,
  logStoreEnvOf,
  openLogStore,
} from '@sluice/object-store';
import { isWithinGap } from '@sluice/outbound';
import { priceFilesPart } from '@sluice/price-files';
import { PriceBook } from '@sluice/pricing';
import { analytics } from '@sluice/proto-stubs';
import { providerIds } from '@sluice/providers';
import { createRpcClient, pemOf, TlsFiles } from '@sluice/rpc';
import { createPartnerWatch, type ServiceTools } from '@sluice/service';
import { loadPublicKeys } from '@sluice/signed-files';
import { explainedBy, sparingOutages } from '@sluice/telemetry';
import { Barriers } from '../config-sync/barriers.ts';
import { createChangeFeed } from '../config-sync/change-feed.ts';
import { createCredentialVault } from '../kernel/credentials/envelope.ts';
import { createDatabaseClient } from '../kernel/database/client.ts';
import { databaseOutages } from '../kernel/database/outages.ts';
import { createSchemaGate } from '../kernel/migrations/wait-for-schema.ts';
import { createLedger, ledgerOutages } from '../ledger/analytics/ledger.ts';
import { recordRefusedTokens } from '../ledger/audit-logs/refused-tokens.ts';
import { ExportLinks } from '../ledger/log-exports/export-links.ts';
import { oauthPart } from '../oauth/oauth-part.ts';
import { outboundPart } from '../parts/outbound.ts';
import { createMintKey } from '../people/api-keys/secrets.ts';
import { createAuthenticate } from '../people/authentication/authenticate.ts';
import { createTokenAuthenticate } from '../people/authentication/token-caller.ts';
import type { Env } from '../settings.ts';
import { Simulator } from '../simulation/simulator.ts';
import { IntegrationTokens } from '../tools/upstream-oauth/integration-tokens.ts';
import { SignIns } from '../tools/upstream-oauth/sign-ins.ts';
import { UpstreamClients } from '../tools/upstream-oauth/upstream-client.ts';
import { UserConnections } from '../tools/upstream-oauth/user-connections.ts';

export interface WiringTools extends ServiceTools {
  /** For tests. */
  readonly now?: () => Date;
}

/** What the control plane stands on: its database, its partners, its secrets, whoever it asks. */
export function layFoundations(
  env: Env,
  { logger: all, metrics, now = () => new Date() }: WiringTools,
) {
  const client = createDatabaseClient({
    url: env.DATABASE_URL,
    connectionsMax: env.DATABASE_CONNECTIONS_MAX,
    preparedMax: env.DATABASE_PREPARED_STATEMENTS,
  });
  const database = databaseOutages(all, () => client.$queryRaw`SELECT 1`);
  const certificates = new TlsFiles(env);
  const ledgerPlace = {
    address: env.DATA_SERVICE_GRPC_URL,
    token: env.SERVICE_CLIENT_AUTH,
    tls: certificates.client,
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
  const logStore = openLogStore(env, { listener: logOfStore(logger) });
  const simulator = new Simulator(
    {
      ledger: () => {
        const { client: tls } = certificates;
        return { ...ledgerPlace, tls: tls && pemOf(tls) };
      },
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
  return {
    certificates,
    client,
    database,
    partner,
    ledgerClient,
    dataService,
    isOfDatabase,
    isOfLedger,
    isOutage,
    logger,
    schema,
    feed,
    barriers,
    vault,
    jobTokens,
    mintKey,
    refusals,
    priceBook,
    priceFiles,
    ledger,
    logStore,
    simulator,
    links,
    authenticate,
    tokens,
    whenPassed,
    connections,
    oauth,
    hostRules,
    fetch,
    outbound,
    now,
    metrics,
  };
}

export type Foundations = ReturnType<typeof layFoundations>;
