import {
  AckPolicy,
  type ConsumerMessages,
  DeliverPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import { type NatsConnection, nanos } from '@nats-io/transport-node';
import { usageStream } from '@sluice/contracts';

/**
 * Without an acknowledgement for so long the server hands the message out
 * again. Short, because it is also how long the messages of a killed process wait.
 */
export const ackWaitMs = 5000;
/** Handed to all replicas together at most, so that what waits for an insert is bounded. */
const unackedMax = 2048;
const pullMax = 512;

/** Creates stream and consumer where they are absent, and starts to pull. */
export async function openUsageStream(nats: NatsConnection): Promise<ConsumerMessages> {
  const manager = await jetstreamManager(nats, { timeout: 2000 });
  await ensureStream(manager);
  await ensureConsumer(manager);
  const consumer = await manager.jetstream().consumers.get(usageStream.name, usageStream.durable);
  return consumer.consume({
    max_messages: pullMax,
    // Heartbeats come twice in this time; when they stay away, the consumer is looked for.
    expires: 10_000,
    // Ending when stream or consumer vanish lets the caller come back here and create them anew.
    abort_on_missing_resource: true,
  });
}

/** One that exists is taken as it is. */
async function ensureStream(manager: JetStreamManager): Promise<void> {
  if (await exists(manager.streams.info(usageStream.name))) return;
  await manager.streams.add({
    name: usageStream.name,
    subjects: [usageStream.subject],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    max_age: nanos(usageStream.maxAgeMs),
    duplicate_window: nanos(usageStream.duplicateWindowMs),
  });
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
