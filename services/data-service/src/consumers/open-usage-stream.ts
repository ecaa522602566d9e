import {
  AckPolicy,
  type Consumer,
  DeliverPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
} from '@nats-io/jetstream';
import { type NatsConnection, nanos } from '@nats-io/transport-node';
import { usageStream, usageStreamConfig } from '@sluice/contracts';

/**
 * Without an acknowledgement for so long the server hands the message out
 * again. Short, because it is also how long the messages of a killed process wait.
 */
export const ackWaitMs = 5000;
/** Handed to all replicas together at most, so that what waits for an insert is bounded. */
const unackedMax = 2048;

/** Creates stream and consumer where they are absent. */
export async function openUsageStream(nats: NatsConnection): Promise<Consumer> {
  const manager = await jetstreamManager(nats, { timeout: 2000 });
  await ensureStream(manager);
  await ensureConsumer(manager);
  return manager.jetstream().consumers.get(usageStream.name, usageStream.durable);
}

/** Whether both are there. */
export async function usageStreamExists(nats: NatsConnection): Promise<boolean> {
  const manager = await jetstreamManager(nats, { timeout: 2000 });
  const { name, durable } = usageStream;
  return (
    (await exists(manager.streams.info(name))) &&
    (await exists(manager.consumers.info(name, durable)))
  );
}

/** One that exists is taken as it is. */
async function ensureStream(manager: JetStreamManager): Promise<void> {
  if (await exists(manager.streams.info(usageStream.name))) return;
  await manager.streams.add(usageStreamConfig);
}

async function ensureConsumer(manager: JetStreamManager): Promise<void> {
  if (await exists(manager.consumers.info(usageStream.name, usageStream.durable))) return;
  await manager.consumers.add(usageStream.name, {
    durable_name: usageStream.durable,
    filter_subject: usageStream.subject,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: nanos(ackWaitMs),
    max_ack_pending: unackedMax,
    max_deliver: -1,
  });
}

async function exists(info: Promise<unknown>): Promise<boolean> {
  try {
    await info;
    return true;
  } catch (error) {
    if (error instanceof JetStreamApiError && absent.includes(error.code)) return false;
    throw error;
  }
}

const absent: readonly number[] = [
  JetStreamApiCodes.StreamNotFound,
  JetStreamApiCodes.ConsumerNotFound,
];
