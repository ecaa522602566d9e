/**
 * `npm run migrate [-- --check]`: brings Postgres, ClickHouse and NATS to this
 * release, before its services start. Which of them there are is told by
 * DATABASE_URL, CLICKHOUSE_URL and NATS_URL.
 */
import { parseArgs } from 'node:util';
import { applyMigrations, missingMigrations } from '@sluice/control-plane/migrate';
import {
  type MigratedStore,
  migrateClickHouse,
  migrateNats,
  replicationOf,
} from '@sluice/data-service/migrate';
import { migrateSettings } from './migrate-settings.ts';

const help = `Usage: npm run migrate [-- --check]

  --check              change nothing; ends with 1 when something is missing
  provision secrets    in a pod: makes the Secrets of an installation that are missing
  provision first-keys makes the first organisation, with ADMIN_KEY and WORKSPACE_KEY

Reads DATABASE_URL, CLICKHOUSE_URL and NATS_URL; what is not set is left alone.
With CLICKHOUSE_REPLICATION_ENABLED=true tables are made on all servers of
CLICKHOUSE_CLUSTER_NAME.
The embedded engine of npm start is brought up to date by the data service.
`;

process.exitCode = await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  return 2;
});

async function main(): Promise<number> {
  if (process.argv[2] === 'provision') {
    const { provision } = await import('./provision/provision.ts');
    return provision(process.argv.slice(3), process.env);
  }
  const { values } = parseArgs({
    options: { check: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help === true) {
    process.stdout.write(help);
    return 0;
  }
  const isCheck = values.check === true;
  const env = migrateSettings.readEnv(process.env);
  const { DATABASE_URL, CLICKHOUSE_URL, NATS_URL } = env;
  const replication = replicationOf(env);
  const stores: MigratedStore[] = [];
  const told = (store: MigratedStore) => {
    stores.push(store);
    process.stdout.write(lineOf(store, isCheck));
  };
  if (DATABASE_URL !== undefined) {
    const steps = await (isCheck ? missingMigrations : applyMigrations)(DATABASE_URL);
    told({ store: 'Postgres', steps });
  }
  if (CLICKHOUSE_URL !== undefined)
    told(await migrateClickHouse(CLICKHOUSE_URL, isCheck, replication));
  if (NATS_URL !== undefined) told(await migrateNats(NATS_URL, isCheck));
  if (stores.length === 0) {
    process.stderr.write(help);
    return 2;
  }
  return isCheck && stores.some(({ steps }) => steps.length > 0) ? 1 : 0;
}

function lineOf({ store, steps }: MigratedStore, isCheck: boolean): string {
  if (steps.length === 0) return `${store}: up to date\n`;
  return `${store}: ${isCheck ? 'lacks' : 'applied'} ${steps.join(', ')}\n`;
}
