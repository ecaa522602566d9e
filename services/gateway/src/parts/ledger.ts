import { join } from 'node:path';
import { usageStream } from '@sluice/contracts';
import { usage } from '@sluice/proto-stubs';
import { createRpcClient, type RpcClientOptions } from '@sluice/rpc';
import type { Part } from '@sluice/service';
import type { Logger } from '@sluice/telemetry';
import manifest from '../../package.json' with { type: 'json' };
import type { Env } from '../settings.ts';
import { createGrpcSink } from '../usage/grpc-sink.ts';
import { createNatsSink } from '../usage/nats-sink.ts';
import { Outbox } from '../usage/outbox.ts';
import { UsagePublisher, type UsageSink } from '../usage/publisher.ts';
import { UsageRecorder } from '../usage/usage-recorder.ts';

export interface LedgerParts {
  replicaId: string;
  /** How the other services are asked. */
  peer: Omit<RpcClientOptions, 'address'>;
  logger: Logger;
}

/** What each attempt leaves: noted on disk before and after it, and sent to the data service. */
export function ledgerPart(env: Env, { replicaId, peer, logger }: LedgerParts) {
  const outbox = new Outbox({ dir: join(env.DATA_DIR, 'outbox'), bytesMax: env.OUTBOX_BYTES_MAX });
  const sink = createSink(env, replicaId, peer);
  const publisher = new UsagePublisher({ outbox, sink, logger, batchMax: 500, lingerMs: 50 });
  const part: Part = {
    name: 'ledger',
    start() {
      const lost = outbox.recover((begin) => Buffer.concat([begin, UsageRecorder.lostSuffix()]));
      if (lost > 0)
        logger.warn({ attempts: lost }, 'attempts were cut off by the last end of this gateway');
      publisher.start();
    },
    async stop(deadlineMs) {
      try {
        await publisher.stop(Math.min(publishMs, deadlineMs));
      } finally {
        outbox.close();
      }
    },
    gauges: () => [
      {
        name: 'sluice_outbox_bytes',
        help: 'Usage records on disk',
        read: () => outbox.pendingBytes,
      },
      {
        name: 'sluice_outbox_failing',
        help: '1 while usage records cannot be sent',
        read: () => Number(publisher.failing),
      },
    ],
  };
  const recorder = new UsageRecorder(outbox, { replicaId, gatewayVersion: manifest.version });
  return { recorder, notes: outbox, part };
}

/** What is not sent by then is sent after the next start. */
const publishMs = 5000;

function createSink(env: Env, replicaId: string, peer: LedgerParts['peer']): UsageSink {
  if (env.NATS_URL !== undefined)
    return createNatsSink({
      addresses: env.NATS_URL,
      replicaId,
      subject: usageStream.subject,
      stream: usageStream,
    });
  return createGrpcSink(
    createRpcClient(usage.UsageService, { address: env.DATA_SERVICE_GRPC_URL, ...peer }),
  );
}
