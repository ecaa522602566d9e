import { join } from 'node:path';
import { usage } from '@sluice/proto-stubs';
import { createRpcClient, type RpcClientOptions } from '@sluice/rpc';
import { createPartnerWatch, type Part } from '@sluice/service';
import type { Logger } from '@sluice/telemetry';
import manifest from '../../package.json' with { type: 'json' };
import type { Visit } from '../exchange/exchange.ts';
import type { GivenFeedback } from '../exchange/given-feedback.ts';
import type { Env } from '../settings.ts';
import { createGrpcSink } from '../usage/grpc-sink.ts';
import { Life } from '../usage/life.ts';
import { createNatsSink } from '../usage/nats-sink.ts';
import { Outbox } from '../usage/outbox.ts';
import { UsagePublisher, type UsageSink } from '../usage/publisher.ts';
import { recordFeedback } from '../usage/record-feedback.ts';
import { recordLateHook } from '../usage/record-late-hook.ts';
import type { RecordFollower } from '../usage/stored-record.ts';
import { type RecordedBy, UsageRecorder } from '../usage/usage-recorder.ts';

export interface LedgerParts {
  replicaId: string;
  /** How the other services are asked. */
  peer: Omit<RpcClientOptions, 'address'>;
  logger: Logger;
  /** Hears of each record. */
  follow: RecordFollower | undefined;
  addUse: RecordedBy['addUse'];
}

/** What each attempt leaves: noted on disk before and after it, and sent to the data service. */
export function ledgerPart(env: Env, { replicaId, peer, logger, follow, addUse }: LedgerParts) {
  const dir = join(env.DATA_DIR, 'outbox');
  const losses = { damagedRanges: 0, refusedRecords: 0 };
  const outbox = new Outbox({
    dir,
    bytesMax: env.OUTBOX_BYTES_MAX,
    onLoss(loss) {
      if (loss.kind === 'damage') losses.damagedRanges++;
      else losses.refusedRecords += loss.records;
      logger.error({ loss, dir }, lossMessages[loss.kind]);
    },
  });
  const recorder = new UsageRecorder(outbox, {
    replicaId,
    gatewayVersion: manifest.version,
    follow,
    addUse,
  });
  const life = new Life({ outbox, numbers: recorder.numbers, replicaId, dir });
  const partner = createPartnerWatch({
    role: 'gateway',
    partner: 'data-service',
    gauge: 'sluice_outbox_refused',
    logger,
  });
  const sink = createSink(env, replicaId, { ...peer, handshake: partner.handshake });
  const publisher = new UsagePublisher({
    outbox,
    life,
    sink,
    logger,
    batchMax: 500,
    lingerMs: 50,
    aliveEveryMs: 10_000,
  });
  const part: Part = {
    name: 'ledger',
    start() {
      const lost = outbox.recover((begin) => Buffer.concat([begin, UsageRecorder.lostSuffix()]));
      if (lost > 0)
        logger.warn({ attempts: lost }, 'attempts were cut off by the last end of this gateway');
      life.begin();
      publisher.start();
    },
    async stop(deadlineMs) {
      try {
        life.end();
        await publisher.stop(Math.min(publishMs, deadlineMs));
      } finally {
        outbox.close();
      }
    },
    gauges: () => [
      ...partner.gauges(),
      {
        name: 'sluice_outbox_bytes',
        help: 'Usage records on disk',
        read: () => outbox.pendingBytes,
      },
      {
        name: 'sluice_outbox_oldest_seconds',
        help: 'Age of the oldest usage record that the ledger does not have; 0 = it has all',
        read: () => {
          const { oldestUnsentAtMs } = publisher;
          return oldestUnsentAtMs === 0 ? 0 : (Date.now() - oldestUnsentAtMs) / 1000;
        },
      },
      {
        name: 'sluice_outbox_failing',
        help: '1 while usage records cannot be sent',
        read: () => Number(publisher.failing),
      },
      {
        name: 'sluice_outbox_damaged_ranges',
        help: 'Places in the outbox that could not be read since the start; the segments are in outbox/damaged',
        read: () => losses.damagedRanges,
      },
      {
        name: 'sluice_outbox_dropped_records',
        help: 'Usage records since the start that the disk refused and memory had no room for',
        read: () => losses.refusedRecords,
      },
    ],
  };
  const feedback = (given: GivenFeedback) => recordFeedback(outbox, given);
  const lateHook = (visit: Visit, verdictJson: string) =>
    recordLateHook(outbox, visit, verdictJson, follow);
  const isRefused = () => partner.isRefused;
  return { recorder, feedback, lateHook, notes: outbox, isRefused, part };
}

const lossMessages = {
  damage: 'a part of the outbox cannot be read, its usage records are lost',
  refused: 'the disk refuses usage records and memory is full, they are lost',
} as const;

/** What is not sent by then is sent after the next start. */
const publishMs = 5000;

function createSink(env: Env, replicaId: string, peer: LedgerParts['peer']): UsageSink {
  if (env.NATS_URL !== undefined)
    return createNatsSink({
      addresses: env.NATS_URL,
      replicaId,
    });
  const address = env.DATA_SERVICE_GRPC_URL;
  return createGrpcSink(createRpcClient(usage.UsageService, { address, ...peer }), address);
}
