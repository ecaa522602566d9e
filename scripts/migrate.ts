/**
 * `npm run migrate [-- --check]`: brings Postgres, ClickHouse and NATS to this
 * release, before its services start. Which of them there are is told by
 * DATABASE_URL, CLICKHOUSE_URL and NATS_URL. The image `sluice/migrations` is
 * this file: beside itself it reads the services' numbered files and nothing else.
 */
import { parseArgs } from 'node:util';
import { applyMigrations, missingMigrations } from '@sluice/control-plane/migrate';
import { migrateClickHouse, migrateNats, replicationOf } from '@sluice/data-service/migrate';
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

/** Says which store it was; others are migrated while the first one's lock is held. */
class StoreFault extends Error {
  constructor(store: string, fault: Error) {
    super(`${store}: ${wordsOf(fault)}`);
  }
}

process.exitCode = await main().catch((error: Error) => {
  process.stderr.write(`${wordsOf(error)}\n`);
  return 2;
});

/** A name with several addresses, of which none answers, is an error without words that has some with words. */
function wordsOf(error: Error): string {
  const { cause, message } = error;
  const said =
    error instanceof AggregateError && message === ''
      ? error.errors.map((each: Error) => each.message).join(', ')
      : message;
  return cause instanceof Error ? `${said} ${wordsOf(cause)}` : said;
}

/** Whose fault it is stands in front: several stores may be named. */
async function of<T>(store: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof StoreFault ? error : new StoreFault(store, error as Error);
  }
}

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
  const env = migrateSettings.readEnv(process.env);
  const { DATABASE_URL, CLICKHOUSE_URL, NATS_URL } = env;
  if ((DATABASE_URL ?? CLICKHOUSE_URL ?? NATS_URL) === undefined) {
    process.stderr.write(help);
    return 2;
  }
  return values.check === true ? check(env) : migrate(env);
}

type Env = ReturnType<typeof migrateSettings.readEnv>;

/** Postgres has a lock, which is held for the other stores, too: of several that run at once one does all. */
async function migrate(env: Env): Promise<number> {
  const others = async () => {
    if (env.CLICKHOUSE_URL !== undefined)
      await migrating('ClickHouse', async (applied) => {
        await migrateClickHouse(env.CLICKHOUSE_URL as string, false, replicationOf(env), applied);
      });
    if (env.NATS_URL !== undefined)
      await migrating('NATS', async (applied) => {
        const { steps } = await migrateNats(env.NATS_URL as string, false);
        for (const step of steps) applied(step);
      });
  };
  if (env.DATABASE_URL === undefined) await others();
  else
    await migrating('Postgres', async (applied, done) => {
      await applyMigrations(env.DATABASE_URL as string, {
        onApplied: applied,
        onWaiting: () => say('Postgres: another one migrates at the moment; waiting for it'),
        async meanwhile() {
          done();
          await others();
        },
      });
    });
  return 0;
}

/** Says each step when it is done, and that there was nothing to do. */
async function migrating(
  store: string,
  work: (applied: (step: string) => void, done: () => void) => Promise<void>,
): Promise<void> {
  let steps = 0;
  let isDone = false;
  const done = () => {
    if (!isDone && steps === 0) say(`${store}: up to date`);
    isDone = true;
  };
  const applied = (step: string) => {
    steps += 1;
    say(`${store}: applied ${step}`);
  };
  await of(store, work(applied, done));
  done();
}

async function check(env: Env): Promise<number> {
  const { DATABASE_URL, CLICKHOUSE_URL, NATS_URL } = env;
  let lacks = false;
  const told = (store: string, steps: readonly string[]) => {
    lacks ||= steps.length > 0;
    say(steps.length === 0 ? `${store}: up to date` : `${store}: lacks ${steps.join(', ')}`);
  };
  if (DATABASE_URL !== undefined)
    told('Postgres', await of('Postgres', missingMigrations(DATABASE_URL)));
  if (CLICKHOUSE_URL !== undefined) {
    const looked = migrateClickHouse(CLICKHOUSE_URL, true, replicationOf(env));
    told('ClickHouse', (await of('ClickHouse', looked)).steps);
  }
  if (NATS_URL !== undefined) told('NATS', (await of('NATS', migrateNats(NATS_URL, true))).steps);
  return lacks ? 1 : 0;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
