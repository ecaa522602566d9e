import { setTimeout as delay } from 'node:timers/promises';
import { fromBinary } from '@bufbuild/protobuf';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { usageStream } from '@sluice/contracts';
import { usage } from '@sluice/proto-stubs';
import { eventually, isLongForm } from '@sluice/testkit';
import { uuidText } from '@sluice/usage';
import { expect } from 'vitest';

/** Usage records as the ledger gets them: read from JetStream, beside the data service. */
export interface Records {
  /**
   * The records of one request in the order of the gateway's sequence: waits for `count` of
   * them as long as is reasonable, then a moment more, so that one too many is seen too.
   * @param counts which are counted, where others may or may not be among them; all unless given
   */
  of(
    requestId: string,
    count: number,
    counts?: (record: usage.UsageRecord) => boolean,
  ): Promise<usage.UsageRecord[]>;
  /** All so far, each once, though it may have been sent again. */
  all(): usage.UsageRecord[];
  /** Waits until the ledger has stored all that was sent to it. */
  stored(): Promise<void>;
  close(): Promise<void>;
}

/** For stacks started with `nats: true`; `url` is `stack.nats.url`. */
export async function readRecords(url: string): Promise<Records> {
  const connection = await connect({ servers: url });
  const manager = await jetstreamManager(connection);
  // Gateway or data service creates the stream, whoever comes first.
  await eventually(() => manager.streams.info(usageStream.name));
  const byRequest = new Map<string, usage.UsageRecord[]>();
  const consumer = await jetstream(connection).consumers.get(usageStream.name);
  const messages = await consumer.consume({
    callback(message) {
      const batch = fromBinary(usage.WriteUsageRequestSchema, message.data);
      for (const bytes of batch.records) {
        const record = fromBinary(usage.UsageRecordSchema, bytes);
        const requestId = uuidText(record.requestId);
        byRequest.set(requestId, [...(byRequest.get(requestId) ?? []), record]);
      }
    },
  });
  return {
    async of(requestId, count, counts = () => true) {
      const arrived = () => byRequest.get(requestId) ?? [];
      // What is missing after that shows best in the caller's comparison.
      await eventually(() => arrived().filter(counts).length >= count).catch(() => {});
      await delay(extraRecordsMs);
      return arrived().toSorted((a, b) => Number(a.sequence - b.sequence));
    },
    all() {
      const all = [...byRequest.values()].flat();
      return [...new Map(all.map((record) => [uuidText(record.id), record])).values()];
    },
    stored: () =>
      eventually(
        async () => {
          const { name, durable } = usageStream;
          const { num_pending, num_ack_pending } = await manager.consumers.info(name, durable);
          expect(num_pending + num_ack_pending).toBe(0);
        },
        { timeoutMs: 120_000 },
      ),
    async close() {
      await messages.close();
      await connection.close();
    },
  };
}

/** Records of one request are published together or within the publisher's linger of 50 ms. */
const extraRecordsMs = isLongForm ? 200 : 100;
