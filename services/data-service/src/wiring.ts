import { setTimeout as delay } from 'node:timers/promises';
import { parseNatsAddresses } from '@sluice/contracts';
import { analytics, usage } from '@sluice/proto-stubs';
import { type RpcServer, type ServeRpcOptions, serveRpc, serverTls } from '@sluice/rpc';
import { createMetrics, type Logger } from '@sluice/telemetry';
import type { Express } from 'express';
import { createApp } from './app.ts';
import { applySchema, schemaFolder } from './clickhouse/apply-schema.ts';
import { connectClickHouse } from './clickhouse/connect.ts';
import { consumeUsageStream, type UsageStreamConsumer } from './consumers/usage-stream.ts';
import type { Env } from './settings.ts';
import { createGapGauge } from './gap-gauge.ts';
import { ingestMetrics } from './metrics.ts';
import { createReadiness } from './readiness.ts';
import { analyticsHandlers } from './rpc/analytics.ts';
import { usageHandlers } from './rpc/usage.ts';
import { createUsageSink } from './sinks/usage-sink.ts';

export interface DataService {
  readonly app: Express;
  readonly rpcPort: number;
  /** Applies the schema, however long ClickHouse takes to answer, then begins to consume. */
  start(stopping: AbortSignal): Promise<void>;
  /** Takes nothing new, stores what is under way, and closes every connection. */
  stop(): Promise<void>;
}

/** What may still be under way gets so long; an orchestrator usually kills after 30 s. */
const graceMs = 8000;

/** Builds the parts and opens the gRPC port. Nothing else constructs a client. */
export async function wire(env: Env, logger: Logger): Promise<DataService> {
  const nowMs = Date.now;
  // Read first, so that a slip in the address is found at start and not when the first message is due.
  const natsAddresses = env.NATS_URL === undefined ? undefined : parseNatsAddresses(env.NATS_URL);
  const registry = createMetrics({ app: env.SERVICE_NAME, env: env.NODE_ENV });
  const metrics = ingestMetrics(registry);
  const { client, close: closeClickHouse } = await connectClickHouse(
    env.CLICKHOUSE_URL === undefined
      ? { dataDir: env.CLICKHOUSE_DATA_DIR }
      : { url: env.CLICKHOUSE_URL },
  );
  const sink = createUsageSink({ client, metrics, logger, nowMs });
  const refreshGaps = createGapGauge({ client, metrics, logger, nowMs, everyMs: 30_000 });

  const rpc: RpcServer = await serveRpc(rpcOptions(env, logger));
  rpc.add(usage.UsageService, usageHandlers(sink));
  rpc.add(analytics.AnalyticsService, analyticsHandlers(client));

  let hasSchema = false;
  let consumer: UsageStreamConsumer | undefined;

  async function applySchemaForEver(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      try {
        const applied = await applySchema(client, schemaFolder);
        if (applied.length > 0) logger.info({ files: applied }, 'applied schema files');
        hasSchema = true;
        return;
      } catch (error) {
        logger.warn({ err: error }, 'the schema could not be applied and will be tried again');
        await delay(1000, undefined, { signal: stopping }).catch(() => {});
      }
    }
  }

  return {
    app: createApp({
      isReady: createReadiness(client, () => hasSchema),
      async renderMetrics() {
        await refreshGaps();
        metrics.queuedRows.set(sink.size);
        const { contentType } = registry.registry;
        return { contentType, text: await registry.registry.metrics() };
      },
    }),
    rpcPort: rpc.port,
    async start(stopping) {
      await applySchemaForEver(stopping);
      if (natsAddresses === undefined || stopping.aborted) return;
      consumer = consumeUsageStream({
        servers: natsAddresses,
        sink,
        logger,
        onConnected: (connected) => metrics.natsConnected.set(connected ? 1 : 0),
      });
    },
    async stop() {
      // Both end when the sink stored what they brought, so the sink closes after them, ClickHouse last.
      await Promise.all([consumer?.stop(graceMs), rpc.close(graceMs)]);
      await sink.close(1000);
      await closeClickHouse();
    },
  };
}

function rpcOptions(env: Env, logger: Logger): ServeRpcOptions {
  return {
    host: env.HOST,
    port: env.GRPC_PORT,
    token: env.SERVICE_CLIENT_AUTH,
    tls: serverTls(env),
    allowInsecure: env.GRPC_ALLOW_INSECURE,
    // One record of the largest size that an outbox takes travels alone.
    requestBytesMax: 20 * 1024 * 1024,
    onError: (error, method) =>
      logger.warn({ err: error, code: error.code, method }, 'a gRPC call failed'),
  };
}
