import { toBinary } from '@bufbuild/protobuf';
import { type JetStreamClient, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { parseNatsAddresses, usageStream, usageStreamConfig } from '@sluice/contracts';
import { usage } from '@sluice/proto-stubs';
import type { UsageSink } from './publisher.ts';

export interface NatsSinkOptions {
  /** As NATS_URL holds them: comma separated, credentials inside. */
  addresses: string;
  replicaId: string;
}

/**
 * Batches as JetStream messages. The message id is the batch's place in the
 * outbox, so that the server drops what it already has; the ledger drops the
 * rest by record id. Connects when first needed and reconnects for ever.
 */
export function createNatsSink(options: NatsSinkOptions): UsageSink {
  const addresses = parseNatsAddresses(options.addresses);
  let connection: NatsConnection | undefined;
  let client: JetStreamClient | undefined;

  async function jetStream(): Promise<JetStreamClient> {
    if (client !== undefined && connection !== undefined && !connection.isClosed()) return client;
    const opened = await connect({
      ...addresses,
      name: `sluice-gateway ${options.replicaId}`,
      maxReconnectAttempts: -1,
      ignoreAuthErrorAbort: true,
      reconnectTimeWait: 500,
      timeout: 2000,
    });
    try {
      await ensureStream(opened);
    } catch (error) {
      // It would reconnect for ever, and the next try opens its own.
      await opened.close();
      throw error;
    }
    connection = opened;
    client = jetstream(connection, { timeout: 5000 });
    return client;
  }

  return {
    name: 'nats',
    address: addresses.servers.join(', '),
    async send(batch) {
      const js = await jetStream();
      const body = toBinary(usage.WriteUsageRequestSchema, {
        $typeName: 'sluice.usage.v1.WriteUsageRequest',
        records: batch.records,
      });
      await js.publish(usageStream.subject, body, {
        msgID: `${options.replicaId}:${batch.id}`,
      });
    },
    async close() {
      await connection?.close();
    },
  };
}

/** Both sides make the stream when it is missing, so that records have a place whoever starts first. */
async function ensureStream(connection: NatsConnection): Promise<void> {
  const manager = await jetstreamManager(connection, { timeout: 5000 });
  try {
    await manager.streams.info(usageStream.name);
  } catch {
    await manager.streams.add(usageStreamConfig);
  }
}
