import { logOfStore, type ObjectStore, openLogStore } from '@sluice/object-store';
import { jobs } from '@sluice/proto-stubs';
import { createRpcClient, type TlsFiles } from '@sluice/rpc';
import { createPartnerWatch, type Part } from '@sluice/service';
import type { Logger, Metrics } from '@sluice/telemetry';
import { Register } from '../control-plane/register.ts';
import { Contents } from '../files/contents.ts';
import { EventParts } from '../files/event-parts.ts';
import type { Env } from '../settings.ts';
import { gatewayPool } from '../through-gateway/gateway-pool.ts';
import { BatchJobs } from './batch-jobs.ts';
import { batchMetrics } from './batch-metrics.ts';
import { PartStore } from './part-store.ts';
import { type RunLife, runBatch } from './run-batch.ts';
import { runResponse } from './run-response.ts';
import { sweeper } from './sweep.ts';

/** Files, and batches over them: what both need is opened here. */
export function batchesPart(
  env: Env,
  { certificates, logger, metrics }: { certificates: TlsFiles; logger: Logger; metrics: Metrics },
) {
  const store: ObjectStore | undefined = openLogStore(env, { listener: logOfStore(logger) });
  const partner = createPartnerWatch({
    role: 'data-service',
    partner: 'control-plane',
    gauge: 'sluice_jobs_refused',
    logger,
  });
  const client = createRpcClient(jobs.JobService, {
    address: env.CONTROL_PLANE_GRPC_URL,
    token: env.SERVICE_CLIENT_AUTH,
    tls: certificates.client,
    allowInsecure: env.GRPC_ALLOW_INSECURE,
    handshake: partner.handshake,
  });
  const register = new Register(client);
  const contents = store === undefined ? undefined : new Contents(store);
  const atOnce = env.BATCHES_AT_ONCE * env.BATCH_LINES_AT_ONCE + env.BACKGROUND_AT_ONCE;
  const pool = gatewayPool(env.GATEWAY_URL, certificates.client, atOnce || 1);
  const counted = batchMetrics(metrics);
  const events = store === undefined ? undefined : new EventParts(store);
  const caller = {
    pool,
    timeoutMs: env.BATCH_LINE_TIMEOUT,
    answerBytesMax: env.BATCH_ANSWER_BYTES_MAX,
  };
  const paces = { intervalMs: env.BATCH_LOOK_INTERVAL, leaseMs: env.BATCH_LEASE };
  const running: BatchJobs[] = [];
  if (store !== undefined && contents !== undefined && env.BATCHES_AT_ONCE > 0) {
    const parts = {
      register,
      contents,
      store: new PartStore(store),
      caller,
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
      metrics: counted,
    };
    const batches = {
      run: (claim: jobs.Claim, life: RunLife) => runBatch(claim, parts, life),
      sweep: sweeper(parts),
    };
    running.push(
      new BatchJobs(
        { register, logger, onEnded: counted.onEnded, ...batches },
        { ...paces, kind: '', atOnce: env.BATCHES_AT_ONCE },
      ),
    );
  }
  if (events !== undefined && env.BACKGROUND_AT_ONCE > 0) {
    const parts = { register, events, caller, retriesMax: env.BATCH_LINE_RETRIES, logger };
    const run = (claim: jobs.Claim, life: RunLife) => runResponse(claim, parts, life);
    running.push(
      new BatchJobs(
        { register, logger, onEnded: () => {}, run },
        { ...paces, kind: 'response', atOnce: env.BACKGROUND_AT_ONCE },
      ),
    );
  }
  const part: Part = {
    name: 'batches',
    start: () => {
      for (const jobs of running) jobs.start();
    },
    drain: async (deadlineMs) => {
      await Promise.all(running.map((jobs) => jobs.drain(deadlineMs)));
    },
    async stop() {
      await pool.destroy();
      client.close();
      await store?.close();
    },
    gauges: () => [
      ...partner.gauges(),
      {
        name: 'sluice_batches_running',
        help: 'Batches, and responses in the background, under way at this replica',
        read: () => running.reduce((sum, jobs) => sum + jobs.running, 0),
      },
    ],
  };
  return { part, register, contents, events };
}
