import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import { lockDataDir } from '@sluice/data-dir';
import type { InsertBlock } from '../columns/native-block.ts';
import { textLiteral } from '../queries/parameters.ts';
import { blockFile } from './block-file.ts';
import { catchUp, type Replication } from './replication.ts';

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
    clickhouse_settings: {
      ...insertSettings,
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
 * An insert must be stored when it is answered, whatever the user's profile
 * says; and a batch with records of many months is odd but not an error.
 */
const insertSettings = { async_insert: 0, max_partitions_per_insert_block: '0' } as const;

/**
 * Most replicas have an insert before it is answered, so that no record is lost with one of them. Two inserts of the same
 * content are two: copies of records are found by their ids, and a mark set again is set again.
 */
const replicaSettings = { insert_quorum: 'auto', insert_deduplicate: 0 } as const;

async function openEmbedded(dataDir: string): Promise<ClickHouse> {
  // Hundreds of megabytes of native code that only this mode needs, hence the late import.
  const [{ createChdbConnection }, { drainPending }] = await Promise.all([
    import('chdb/connection'),
    import('chdb'),
  ]);
  // Before the engine looks at it; the engine's own lock says less, and later.
  const lock = await lockDataDir(dataDir, { name: 'CLICKHOUSE_DATA_DIR', waitMs: 10_000 });
  const connection = await whenUnlocked(() => createChdbConnection({ path: dataDir }));
  // Reading rows in parallel gains nothing at our batch size and holds some 150 MB more.
  const settings = { ...insertSettings, input_format_parallel_parsing: 0 } as const;
  const client = createClient({
    connection: connection as unknown as ClientConnection,
    clickhouse_settings: settings,
  });
  const file = blockFile(dataDir);
  return {
    client,
    insertBlock: (table, { columns, bytes }) =>
      file.hold(bytes, async (path) => {
        const names = columns.join(', ');
        await client.command({
          query: `INSERT INTO ${table} (${names}) SELECT ${names} FROM file(${textLiteral(path)}, Native)`,
        });
      }),
    catchUp: async () => {},
    async close() {
      await client.close();
      await drainPending();
      lock.release();
    },
  };
}

/** The engine's types come from the client's older twin package: the same shapes under other names. */
type ClientConnection = NonNullable<NonNullable<Parameters<typeof createClient>[0]>['connection']>;

/**
 * The engine locks its folder with the kernel's help, so a killed process
 * leaves no lock. One that is still dying may hold it for a moment.
 */
async function whenUnlocked<T>(open: () => T): Promise<T> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    try {
      return open();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(200);
    }
  }
}
