import { SettingsError } from '@sluice/env';
import { Unavailable } from '@sluice/rpc';
import {
  airGapPart,
  certificatesPart,
  createHttpServer,
  createRpcMetrics,
  httpPart,
  type Part,
  rpcPart,
} from '@sluice/service';
import { rpcSeriesMax } from './kernel/http/metrics.ts';
import { refuseUnreadable } from './kernel/http/refuse-unreadable.ts';
import { AlertSender } from './limits/alerts/alert-sender.ts';
import { createAlertPublisher, natsChannel } from './limits/alerts/nats-publisher.ts';
import { webhookChannel } from './limits/alerts/webhook-channel.ts';
import { sealOpenHeaders } from './models/integrations/seal-open-headers.ts';
import { logExportsPart } from './parts/log-exports.ts';
import { maintenancePart } from './parts/maintenance.ts';
import type { Env } from './settings.ts';
import { wireAdminApi } from './wiring/admin-api.ts';
import { layFoundations, type WiringTools } from './wiring/foundations.ts';
import { wireRpcServices } from './wiring/rpc-services.ts';

/** Builds every client once and hands it down. Nothing else constructs a client. */
export function wire(env: Env, tools: WiringTools): readonly Part[] {
  const base = layFoundations(env, tools);
  const { app, retire } = wireAdminApi(env, base);
  const {
    certificates,
    client,
    database,
    partner,
    ledgerClient,
    dataService,
    isOfDatabase,
    isOfLedger,
    logger,
    schema,
    feed,
    barriers,
    vault,
    refusals,
    priceFiles,
    ledger,
    logStore,
    simulator,
    oauth,
    fetch,
    outbound,
    now,
    metrics,
  } = base;
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
  const { server: tls } = certificates;
  if (env.HTTP_TLS_ENABLED && tls === undefined)
    throw new SettingsError(['HTTP_TLS_ENABLED needs TLS_CERT_PATH and TLS_KEY_PATH.']);
  const server = createHttpServer(
    { requestTimeout: 30_000, headersTimeout: 10_000 },
    env.HTTP_TLS_ENABLED ? tls : undefined,
    app,
  );
  refuseUnreadable(server);
  return [
    ...certificatesPart(certificates, { logger }),
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
      services: wireRpcServices(env, base, {
        draining: draining.signal,
        hasNats: publisher !== undefined,
        onAlert() {
          for (const sender of alerts) sender.wake();
        },
      }),
    }),
    {
      name: 'readiness',
      retire,
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
      gauges: () => [
        {
          name: 'sluice_alerts_undelivered',
          help: 'Alerts of limits that a webhook or NATS did not take, and that are sent again',
          read: () => alerts.reduce((sum, { undelivered }) => sum + undelivered, 0),
        },
      ],
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
