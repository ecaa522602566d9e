import { createServer } from 'node:http';
import { parseNatsAddresses } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { analytics, jobs, usage } from '@sluice/proto-stubs';
import { TlsFiles, Unavailable } from '@sluice/rpc';
import {
  airGapPart,
  certificatesPart,
  createRpcMetrics,
  httpPart,
  type Part,
  rpcPart,
  type ServiceTools,
  served,
} from '@sluice/service';
import { explainedBy, sparingOutages } from '@sluice/telemetry';
import { createApp } from './app.ts';
import { batchesPart } from './batches/batches-part.ts';
import { connectClickHouse } from './clickhouse/connect.ts';
import { askedTooMuch, clickHouseOutages } from './clickhouse/outage.ts';
import { replicationOf } from './clickhouse/replication.ts';
import { createSchemaGate } from './clickhouse/wait-for-schema.ts';
import { consumeUsageStream, type UsageStreamConsumer } from './consumers/usage-stream.ts';
import { watchStream } from './consumers/watch-stream.ts';
import { followedPart } from './followed/followed-part.ts';
import { createGapGauge } from './gap-gauge.ts';
import { ingestMetrics } from './metrics.ts';
import { createReadiness } from './readiness.ts';
import { createKeeper } from './retention/keeper.ts';
import { repeatRollUps } from './rollups/repeat-roll-ups.ts';
import { analyticsHandlers } from './rpc/analytics.ts';
import { contentHandlers } from './rpc/contents.ts';
import { ledgerHandlers } from './rpc/ledger.ts';
import { logHandlers } from './rpc/logs.ts';
import { ownerHandlers, usageHandlers } from './rpc/usage.ts';
import { createSealer } from './seals/sealer.ts';
import type { Env } from './settings.ts';
import { createUsageSink } from './sinks/usage-sink.ts';

/** What the sink still holds when what brought it has ended gets so long. */
const lastInsertMs = 1000;

/** What is wrong with the question itself, whatever ClickHouse said of it. */
const isRefusal = (error: unknown) => error instanceof GatewayError && error.status < 500;

/** Opens ClickHouse and builds the parts. Nothing else constructs a client. */
export async function wire(
  env: Env,
  { logger: all, metrics: registry }: ServiceTools,
): Promise<readonly Part[]> {
  const nowMs = Date.now;
  const certificates = new TlsFiles(env);
  // Read first, so that a slip in the address is found at start and not when the first message is due.
  const natsAddresses = env.NATS_URL === undefined ? undefined : parseNatsAddresses(env.NATS_URL);
  const replication = replicationOf(env);
  const metrics = ingestMetrics(registry);
  const {
    client,
    intake,
    questions,
    insertBlock,
    catchUp,
    close: closeClickHouse,
  } = await connectClickHouse(
    env.CLICKHOUSE_URL === undefined
      ? { dataDir: env.CLICKHOUSE_DATA_DIR }
      : { url: env.CLICKHOUSE_URL, replication },
  );
  const outages =
    env.CLICKHOUSE_URL === undefined ? [] : clickHouseOutages(all, client, env.CLICKHOUSE_URL);
  const isOutage = explainedBy(outages);
  const asked = askedTooMuch(all);
  const logger = sparingOutages(all, explainedBy([...outages, asked]));
  const sink = createUsageSink({
    client: intake,
    insertBlock,
    metrics,
    logger,
    nowMs,
    insertIntervalMs: env.INSERT_INTERVAL,
  });
  const refreshGaps = createGapGauge({
    client,
    metrics,
    logger,
    nowMs,
    graceMs: env.GAP_GRACE,
    everyMs: 30_000,
  });

  const keeper = createKeeper({
    client,
    catchUp,
    logger,
    nowMs,
    isRolledUp: env.ANALYTICS_ROLL_UPS,
  });
  const sealer = createSealer({ client, catchUp, logger, nowMs, everyMs: 600_000 });

  const batches = batchesPart(env, { certificates, logger, metrics: registry });
  const followed = followedPart(env, { ...batches, certificates, logger, metrics: registry });
  let isRetired = false;
  const schema = createSchemaGate(client, { isOwn: env.CLICKHOUSE_URL === undefined, logger });
  let consumer: UsageStreamConsumer | undefined;
  const rollUps = new AbortController();
  let rollingUp: Promise<void> | undefined;
  const app = createApp({
    missing: createReadiness(intake, schema, () => isRetired),
    async renderMetrics() {
      await refreshGaps();
      metrics.queuedRows.set(sink.size);
      metrics.sealAgeSeconds.set(sealer.ageSeconds());
      const { contentType } = registry.registry;
      return { contentType, text: await registry.text() };
    },
  });

  return [
    ...certificatesPart(certificates, { logger }),
    airGapPart({
      isOn: env.AIRGAP,
      addresses: [
        env.CLICKHOUSE_URL,
        env.NATS_URL,
        env.OTEL_ENDPOINT,
        env.CONTROL_PLANE_GRPC_URL,
        env.GATEWAY_URL,
        env.LOG_STORE_BASEPATH,
      ],
      logger,
    }),
    {
      name: 'clickhouse',
      stop() {
        for (const outage of [...outages, asked]) outage.stop();
        return closeClickHouse();
      },
    },
    // Calls and messages end when the sink stored what they brought, so they drain before it closes.
    { name: 'sink', stop: () => sink.close(lastInsertMs) },
    rpcPart({
      host: env.HOST,
      port: env.GRPC_PORT,
      token: env.SERVICE_CLIENT_AUTH,
      tokensAlso: env.SERVICE_CLIENT_AUTH_ALSO,
      role: 'data-service',
      tls: certificates.server,
      allowInsecure: env.GRPC_ALLOW_INSECURE,
      // One record of the largest size that an outbox takes travels alone.
      requestBytesMax: 20 * 1024 * 1024,
      onConverted: createRpcMetrics(registry, { seriesMax: 25 }),
      translate: (error) =>
        !isRefusal(error) && isOutage(error)
          ? new Unavailable('ClickHouse cannot be reached.')
          : error,
      logger,
      services: [
        served(usage.UsageService, usageHandlers(sink, client)),
        served(usage.OwnerService, ownerHandlers(client)),
        served(analytics.AnalyticsService, analyticsHandlers({ questions, client })),
        served(
          analytics.LedgerService,
          ledgerHandlers({ questions, sink, keeper, nowMs, gapGraceMs: env.GAP_GRACE }),
        ),
        served(analytics.LogService, logHandlers(questions)),
        served(
          jobs.ContentService,
          contentHandlers({
            ...batches,
            fileBytesMax: env.FILE_BYTES_MAX,
            keptBytesMax: env.RESPONSE_BYTES_MAX,
            logger,
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
    // Before the schema, which may wait for ClickHouse: health checks are answered meanwhile.
    httpPart({ server: createServer(app), host: env.HOST, port: env.PORT }),
    {
      name: 'schema',
      async start(stopping) {
        await schema.wait(stopping);
      },
    },
    {
      name: 'roll-ups',
      start(stopping) {
        if (!env.ANALYTICS_ROLL_UPS || !schema.isReady) return;
        const signal = AbortSignal.any([stopping, rollUps.signal]);
        rollingUp = repeatRollUps({ client, catchUp, metrics, logger, nowMs, stopping: signal });
      },
      async drain() {
        rollUps.abort();
        await rollingUp;
      },
    },
    {
      name: 'sealer',
      start() {
        if (schema.isReady) sealer.start();
      },
      stop: () => sealer.stop(),
    },
    batches.part,
    followed, // asks by what batches have opened
    {
      name: 'usage-stream',
      start() {
        if (natsAddresses === undefined) return;
        consumer = consumeUsageStream({
          servers: natsAddresses,
          sink,
          logger,
          watch: watchStream({
            everyMs: 15_000,
            nowMs,
            logger,
            onBacklog({ messages, ageMs, dangers }) {
              metrics.streamMessages.set(messages);
              metrics.streamAgeSeconds.set(ageMs / 1000);
              metrics.streamDangers.set(dangers.length);
            },
          }),
          onConnected: (connected) => metrics.natsConnected.set(connected ? 1 : 0),
        });
      },
      drain: (deadlineMs) => consumer?.stop(deadlineMs),
    },
  ];
}
