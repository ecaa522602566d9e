import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { onceInRun } from './once-in-run.ts';
import { startService } from './service.ts';

/**
 * Puts a ledger without records where the embedded engine will look for its data. To make the tables costs a half of
 * what a data service takes to start, and a run starts a hundred: one makes them, the others have copies.
 */
export async function prepareLedger(dataDir: string): Promise<void> {
  const made = await onceInRun('prepared-ledger', async (folder) => {
    const service = await startService('data-service', {
      PORT: '0',
      GRPC_PORT: '0',
      SERVICE_CLIENT_AUTH: 'a-token-of-the-tests-only',
      CLICKHOUSE_DATA_DIR: folder,
    });
    await service.stop();
    for (const lock of ['sluice.lock', 'sluice.lock.json'])
      await rm(join(folder, lock), { force: true });
  });
  // Its tables are named by links that lead from one part of the folder to another.
  await cp(made, dataDir, { recursive: true, verbatimSymlinks: true });
}
