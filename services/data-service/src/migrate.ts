import { applySchema, missingSchema, schemaFolder } from './clickhouse/apply-schema.ts';
import { connectClickHouse } from './clickhouse/connect.ts';
import type { Replication } from './clickhouse/replication.ts';
import { ensureUsageStream } from './consumers/ensure-usage-stream.ts';

export { replicationOf, replicationSettings } from './clickhouse/replication.ts';

/** What a store lacked, or lacks where it was only looked at. */
export interface MigratedStore {
  store: string;
  steps: readonly string[];
}

/** Brings the ledger on a ClickHouse server to this release; with `isCheck` it only says what is missing. */
export async function migrateClickHouse(
  url: string,
  isCheck: boolean,
  replication?: Replication,
  onApplied?: (name: string) => void,
): Promise<MigratedStore> {
  const { client, close } = await connectClickHouse({ url, replication });
  try {
    const steps = isCheck
      ? await missingSchema(client, schemaFolder)
      : await applySchema(client, schemaFolder, { replication, onApplied });
    return { store: 'ClickHouse', steps };
  } finally {
    await close();
  }
}

/** Makes the stream of usage records and its consumer where they are absent. */
export async function migrateNats(addresses: string, isCheck: boolean): Promise<MigratedStore> {
  const existed = await ensureUsageStream(addresses, isCheck);
  return { store: 'NATS', steps: existed ? [] : ['stream and consumer of usage records'] };
}
