import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { InsertBlock } from '../columns/native-block.ts';
import { openEmbedded } from './embedded-engine.ts';
import { catchUp, type Replication } from './replication.ts';
import { statementSettings } from './statement-settings.ts';

/** A server elsewhere, or the engine inside this process. */
export type ClickHousePlace =
  | { url: string; replication?: Replication | undefined }
  | { dataDir: string };

export interface ClickHouse {
  readonly client: ClickHouseClient;
  readonly insertBlock: InsertBlock;
  /** Waits until what is asked has all that was stored before; at once where there are no replicas. */
  readonly catchUp: () => Promise<void>;
  /** Waits for what the engine still computes; afterwards its folder is free. */
  close(): Promise<void>;
}

/** Opens ClickHouse. A server need not be there yet: calls fail until it is. */
export async function connectClickHouse(place: ClickHousePlace): Promise<ClickHouse> {
  if ('dataDir' in place) return openEmbedded(place.dataDir);
  const client = createClient({
    url: place.url,
    application: 'sluice-data-service',
    request_timeout: 30_000,
    // Whoever asks is told of faults, and logs them as lines of JSON.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      ...statementSettings,
      ...(place.replication === undefined ? {} : replicaSettings),
    },
  });
  return {
    client,
    async insertBlock(table, { columns, bytes }) {
      const { stream } = await client.exec({
        query: `INSERT INTO ${table} (${columns.join(', ')}) FORMAT Native`,
        values: Readable.from([bytes], { objectMode: false }),
      });
      // The answer is empty; its end gives the connection back.
      await finished(stream.resume());
    },
    catchUp: async () => {
      if (place.replication !== undefined) await catchUp(client);
    },
    close: () => client.close(),
  };
}

/**
 * Most replicas have an insert before it is answered, so that no record is lost with one of them. Two inserts of the same
 * content are two: copies of records are found by their ids, and a mark set again is set again.
 */
const replicaSettings = { insert_quorum: 'auto', insert_deduplicate: 0 } as const;
