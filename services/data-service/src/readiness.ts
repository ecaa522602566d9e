import type { ClickHouseClient } from '@clickhouse/client';

/** Asks ClickHouse at most once a second, however often it is asked, and for two seconds at most. */
export function createReadiness(client: ClickHouseClient, hasSchema: () => boolean) {
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  let last: Promise<boolean> = Promise.resolve(false);
  return (): Promise<boolean> => {
    if (performance.now() - checkedAtMs > 1000) {
      checkedAtMs = performance.now();
      last = hasSchema() ? answers(client) : Promise.resolve(false);
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
