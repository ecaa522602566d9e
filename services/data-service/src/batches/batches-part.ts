import { type ObjectStore, openLogStore } from '@sluice/object-store';
import { jobs } from '@sluice/proto-stubs';
import { clientTls, createRpcClient } from '@sluice/rpc';
import { createPartnerWatch, type Part } from '@sluice/service';
import { addCounter, type Logger, type Metrics } from '@sluice/telemetry';
import { Pool } from 'undici';
import { Register } from '../control-plane/register.ts';
import { Contents } from '../files/contents.ts';
import type { Env } from '../settings.ts';
import { gatewayOrigin } from '../through-gateway/gateway-origin.ts';
import { BatchJobs } from './batch-jobs.ts';
import { PartStore } from './part-store.ts';

const ends = ['completed', 'failed', 'expired', 'cancelled', 'left'] as const;

/** Files, and batches over them: what both need is opened here. */
export function batchesPart(env: Env, { logger, metrics }: { logger: Logger; metrics: Metrics }) {
  const store: ObjectStore | undefined = openLogStore(env);
  const partner = createPartnerWatch({
    role: 'data-service',
    partner: 'control-plane',
    gauge: 'sluice_jobs_refused',
    logger,
  });
  const client = createRpcClient(jobs.JobService, {
    address: env.CONTROL_PLANE_GRPC_URL,
    token: env.SERVICE_CLIENT_AUTH,
    tls: clientTls(env),
    allowInsecure: env.GRPC_ALLOW_INSECURE,
    handshake: partner.handshake,
  });
  const register = new Register(client);
  const contents = store === undefined ? undefined : new Contents(store);
  const pool = new Pool(gatewayOrigin(env.GATEWAY_URL), {
    connections: env.BATCHES_AT_ONCE * env.BATCH_LINES_AT_ONCE || 1,
    connect: { ...clientTls(env), timeout: 5_000 },
  });
  const counted = batchMetrics(metrics);
  const running =
    store === undefined || contents === undefined || env.BATCHES_AT_ONCE === 0
      ? undefined
      : new BatchJobs(
          {
            register,
            contents,
            store: new PartStore(store),
            caller: {
              pool,
              timeoutMs: env.BATCH_LINE_TIMEOUT,
              answerBytesMax: env.BATCH_ANSWER_BYTES_MAX,
            },
            rules: {
              linesMax: env.BATCH_LINES_MAX,
              lineBytesMax: env.BATCH_LINE_BYTES_MAX,
              atOnce: env.BATCH_LINES_AT_ONCE,
              retriesMax: env.BATCH_LINE_RETRIES,
              managedIntervalMs: env.BATCH_STATUS_CHECK_INTERVAL,
              pace: {
                linesPerInterval: env.BATCH_BUCKET_LINES,
                intervalMs: env.BATCH_BUCKET_INTERVAL,
              },
            },
            logger,
            ...counted,
          },
          {
            atOnce: env.BATCHES_AT_ONCE,
            intervalMs: env.BATCH_LOOK_INTERVAL,
            leaseMs: env.BATCH_LEASE,
          },
        );
  const part: Part = {
    name: 'batches',
    start: () => running?.start(),
    drain: (deadlineMs) => running?.drain(deadlineMs),
    async stop() {
      await pool.destroy();
      client.close();
      await store?.close();
    },
    gauges: () => [
      ...partner.gauges(),
      {
        name: 'sluice_batches_running',
        help: 'Batches under way at this replica',
        read: () => running?.running ?? 0,
      },
    ],
  };
  return { part, register, contents };
}

function batchMetrics({ registry }: Metrics) {
  const lines = addCounter(
    registry,
    'sluice_batch_lines_total',
    'Lines of batches, by what they came to.',
    {
      labels: { outcome: new Set(['completed', 'failed']) },
      seriesMax: 2,
    },
  );
  const runs = addCounter(
    registry,
    'sluice_batch_runs_total',
    'Runs of batches by this replica, by how they ended; `left` go on elsewhere.',
    { labels: { end: new Set(ends) }, seriesMax: ends.length },
  );
  return {
    onLines(count: number, failed: number) {
      lines.child({ outcome: 'completed' }).add(count - failed);
      lines.child({ outcome: 'failed' }).add(failed);
    },
    onEnded: (end: (typeof ends)[number]) => runs.child({ end }).add(1),
  };
}
