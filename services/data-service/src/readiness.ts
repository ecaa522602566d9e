import type { ClickHouseClient } from '@clickhouse/client';
import type { SchemaGate } from './clickhouse/wait-for-schema.ts';

/** What is missing. Asks ClickHouse at most once a second, however often it is asked, and for two seconds at most. */
export function createReadiness(
  client: ClickHouseClient,
  schema: SchemaGate,
  isRetired: () => boolean,
) {
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  let last: Promise<readonly string[]> = Promise.resolve([]);
  const look = async () => {
    if (!schema.isReady) return [schema.fault ?? 'the schema has not been looked at yet'];
    return (await answers(client)) ? [] : ['ClickHouse does not answer'];
  };
  return async (): Promise<readonly string[]> => {
    if (isRetired()) return ['draining'];
    if (performance.now() - checkedAtMs > 1000) {
      checkedAtMs = performance.now();
      last = look();
    }
    return last;
  };
}

async function answers(client: ClickHouseClient): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, 2000, false);
  });
  try {
    return await Promise.race([client.ping().then((ping) => ping.success), timeout]);
  } catch {
    // Not ready is the whole answer; what failed is in the log of the failing inserts.
    return false;
  } finally {
    clearTimeout(timer);
  }
}
