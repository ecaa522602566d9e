import { setTimeout as delay } from 'node:timers/promises';
import type { Consumer, ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { usageStream } from '@sluice/contracts';
import { Outage } from '@sluice/telemetry';
import { notAMessage, readMessage } from '../sinks/read-message.ts';
import type { UsageSink } from '../sinks/usage-sink.ts';
import { connectNats, type NatsOptions } from './connect-nats.ts';
import { ackWaitMs, openUsageStream } from './open-usage-stream.ts';

export interface UsageStreamOptions extends NatsOptions {
  sink: Pick<UsageSink, 'write' | 'reject' | 'size'>;
  /** Follows what waits in the stream, as long as `stopping` allows. */
  watch: (nats: NatsConnection, stopping: AbortSignal) => Promise<void>;
}

export interface UsageStreamConsumer {
  /** Takes no more messages, waits for `graceMs` for those under way, and disconnects. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Moves messages from the stream to the sink and acknowledges each after its
 * insert. NATS may be absent for any time, at start too: this tries for ever.
 */
export function consumeUsageStream(options: UsageStreamOptions): UsageStreamConsumer {
  const { logger, sink } = options;
  const stopping = new AbortController();
  const underWay = new Map<JsMsg, Promise<void>>();
  let nats: NatsConnection | undefined;
  let watched: NatsConnection | undefined;
  let messages: ConsumerMessages | undefined;
  const outage = new Outage({
    logger,
    away: 'consuming from NATS was interrupted',
    back: 'usage records are consumed from NATS again',
    facts: { stream: usageStream.name },
  });

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        if (nats?.isClosed()) nats = undefined;
        nats ??= await connectNats(options, stopping.signal);
        const consumer = await openUsageStream(nats);
        if (outage.isOn) outage.ends();
        else logger.info({ stream: usageStream.name }, 'consuming usage records from NATS');
        if (watched !== nats) void options.watch(nats, stopping.signal);
        watched = nats;
        await pull(consumer);
      } catch (error) {
        if (!stopping.signal.aborted) outage.explains(error);
      }
      await delay(500, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  /** Asks for no more than there is room for, so that nothing is handed back. */
  async function pull(consumer: Consumer): Promise<void> {
    while (!stopping.signal.aborted) {
      if (sink.size > waitingMax) {
        await delay(20, undefined, { signal: stopping.signal }).catch(() => {});
        continue;
      }
      messages = await consumer.fetch({ max_messages: pullMax, expires: pullMs });
      for await (const message of messages) take(message);
    }
  }

  function take(message: JsMsg): void {
    // Not awaited: messages meet in the batcher, so that one insert holds many.
    const handled = store(message).finally(() => underWay.delete(message));
    underWay.set(message, handled);
  }

  async function store(message: JsMsg): Promise<void> {
    try {
      const records = readMessage(message.data);
      if (records === undefined) await sink.reject(message.data, notAMessage);
      else await sink.write(records);
      message.ack();
    } catch (error) {
      logger.warn({ err: error }, 'a NATS message could not be stored and will come again');
      // Without a connection the server redelivers by itself, only later.
      if (nats !== undefined && !nats.isClosed() && !nats.isDraining()) message.nak(2000);
    }
  }

  // An insert may wait for ClickHouse longer than the server waits for an acknowledgement.
  const extend = setInterval(() => {
    if (nats !== undefined && !nats.isClosed())
      for (const message of underWay.keys()) message.working();
  }, ackWaitMs / 3);

  const running = run();

  return {
    async stop(graceMs) {
      stopping.abort();
      messages?.stop();
      const settled = Promise.allSettled(underWay.values());
      await Promise.race([settled, delay(graceMs, undefined, { ref: false })]);
      clearInterval(extend);
      // Drain sends the acknowledgements that are still buffered.
      if (nats !== undefined && !nats.isClosed())
        await Promise.race([
          nats.drain().catch(() => {}),
          delay(graceMs, undefined, { ref: false }),
        ]);
      await nats?.close();
      await Promise.race([running, delay(graceMs, undefined, { ref: false })]);
    },
  };
}

/** Messages in one pull, which hold some 500 records at most, and rows before which nothing is pulled: together less than the sink takes. */
const pullMax = 100;
const waitingMax = 40_000;
/** Heartbeats come twice in this time; when they stay away, the stream is looked for. */
const pullMs = 10_000;
