import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { baseEnvironment, freePort, type ManagedProcess, startProcess } from '@sluice/stack';

/** The data service of the rehearsal. */
interface Part {
  start(): Promise<void>;
  stop(): Promise<unknown>;
  kill(): Promise<unknown>;
}

/** Where the ledger is kept, and how docs/deploy/backup.md says that it is backed up and comes back. */
export interface LedgerStore {
  /** Of its server; undefined = the data service has the engine in itself. */
  readonly url: string | undefined;
  readonly howBackedUp: string;
  backUp(dataService: Part): Promise<void>;
  /** All that it held is gone, and so is its data service. */
  lose(dataService: Part): Promise<void>;
  /** From the backup, into an empty store; its data service runs afterwards. */
  restore(dataService: Part): Promise<void>;
  stop(): Promise<void>;
}

/** The data service's own engine: its folder is copied while it is stopped. */
export function embeddedLedger(dataDir: string, copy: string): LedgerStore {
  return {
    url: undefined,
    howBackedUp: 'copied, its data service away meanwhile',
    async backUp(dataService) {
      await dataService.stop();
      cpSync(dataDir, copy, { recursive: true });
      await dataService.start();
    },
    async lose(dataService) {
      await dataService.kill();
      rmSync(dataDir, { recursive: true });
    },
    async restore(dataService) {
      cpSync(copy, dataDir, { recursive: true });
      await dataService.start();
    },
    async stop() {},
  };
}

/**
 * ClickHouse's HTTP interface before the embedded engine, as a process of its own: backed up by BACKUP while rows arrive, whole and then
 * what came since, restored by RESTORE.
 */
export async function ledgerOnServer(folder: string): Promise<LedgerStore> {
  mkdirSync(folder);
  const port = await freePort();
  const url = `http://default:@127.0.0.1:${port}/default`;
  const start = (): Promise<ManagedProcess> =>
    startProcess({
      name: 'clickhouse',
      entry: resolve(import.meta.dirname, '../../services/data-service/test/clickhouse-main.ts'),
      args: [folder, String(port)],
      env: baseEnvironment(),
    });
  const ask = async (statement: string): Promise<void> => {
    const answer = await fetch(url.replace('default:@', ''), { method: 'POST', body: statement });
    if (!answer.ok) throw new Error(`${statement}: ${await answer.text()}`);
  };
  let server = await start();
  return {
    url,
    howBackedUp: 'backed up whole, then what came since, while rows arrived',
    async backUp() {
      await ask(`BACKUP DATABASE default TO Disk('backups', 'whole')`);
      await ask(
        `BACKUP DATABASE default TO Disk('backups', 'since') SETTINGS base_backup = Disk('backups', 'whole')`,
      );
    },
    async lose(dataService) {
      await server.kill();
      await dataService.stop();
      rmSync(join(folder, 'data'), { recursive: true });
    },
    async restore(dataService) {
      server = await start();
      await ask(`RESTORE DATABASE default FROM Disk('backups', 'since')`);
      await ask(changedOfLate);
      await dataService.start();
    },
    async stop() {
      await server.stop();
    },
  };
}

/** Tables are backed up one after the other: what was stored meanwhile may be a record without the mark that it is to be rolled up. */
const changedOfLate = `
  INSERT INTO usage_changes
  SELECT organisation_id, toUInt32(intDiv(toUnixTimestamp64Milli(created_at), 60000)) AS minute, now64(3, 'UTC')
  FROM usage_records WHERE stored_at > now() - INTERVAL 1 DAY GROUP BY organisation_id, minute`;
