import { setTimeout as delay } from 'node:timers/promises';
import { DiscardPolicy, type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { usageStream } from '@sluice/contracts';
import type { Logger } from '@sluice/telemetry';

/** What waits in the stream. */
export interface Backlog {
  messages: number;
  /** Of the oldest that is not stored; 0 = there is none. */
  ageMs: number;
  /** Why the stream may drop what is not stored yet; empty = it does not before its age. */
  dangers: readonly string[];
}

export interface WatchStreamOptions {
  everyMs: number;
  nowMs: () => number;
  logger: Logger;
  onBacklog: (backlog: Backlog) => void;
}

/** A backlog of this part of the stream's age is told long before anything is dropped. */
const alarmPart = 0.25;

/** Tells now and then what waits, and warns when the stream's limits could take it before it is stored. */
export function watchStream(options: WatchStreamOptions) {
  const { everyMs, logger, nowMs, onBacklog } = options;
  let warned = '';
  return async (nats: NatsConnection, stopping: AbortSignal): Promise<void> => {
    while (!stopping.aborted && !nats.isClosed()) {
      try {
        const manager = await jetstreamManager(nats, { timeout: 2000 });
        const backlog = await readBacklog(manager, nowMs());
        onBacklog(backlog);
        const text = backlog.dangers.join('; ');
        if (text !== warned && text !== '')
          logger.error(
            { stream: usageStream.name, ...backlog },
            'the stream may drop usage records that are not stored yet',
          );
        warned = text;
      } catch (error) {
        logger.debug({ err: error }, 'the usage stream could not be looked at');
      }
      await delay(everyMs, undefined, { signal: stopping }).catch(() => {});
    }
  };
}

async function readBacklog(manager: JetStreamManager, nowMs: number): Promise<Backlog> {
  const { config, state } = await manager.streams.info(usageStream.name);
  const consumer = await manager.consumers.info(usageStream.name, usageStream.durable);
  const messages = consumer.num_pending + consumer.num_ack_pending;
  const oldest =
    messages === 0
      ? null
      : await manager.streams.getMessage(usageStream.name, {
          // What went before was dropped or stored.
          seq: Math.max(consumer.ack_floor.stream_seq + 1, state.first_seq),
        });
  const ageMs = oldest === null ? 0 : Math.max(0, nowMs - oldest.time.getTime());
  const dangers: string[] = [];
  const isBounded = config.max_msgs > 0 || config.max_bytes > 0 || config.max_msgs_per_subject > 0;
  if (isBounded && config.discard !== DiscardPolicy.New)
    dangers.push('its limits drop the oldest messages: set discard to new');
  if (config.max_age > 0 && ageMs > (config.max_age / 1e6) * alarmPart)
    dangers.push('what waits has a quarter of the age at which it is dropped');
  if (state.first_seq > consumer.ack_floor.stream_seq + 1 && consumer.ack_floor.stream_seq > 0)
    dangers.push('messages were dropped before they were stored');
  return { messages, ageMs, dangers };
}
