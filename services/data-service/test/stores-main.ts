import { createDatabase, startNats, startPostgres, startRedis } from '@sluice/testkit';
import { startClickHouseFront } from './clickhouse-front.ts';

/**
 * The stores of an installation for `npm run pods`: prints their settings as one line of JSON, and runs until
 * its input ends.
 */
const [postgres, clickHouse, redis, nats] = await Promise.all([
  startPostgres(),
  startClickHouseFront(),
  startRedis(),
  startNats(),
]);
const settings = {
  DATABASE_URL: await createDatabase(postgres.url),
  CLICKHOUSE_URL: clickHouse.url,
  REDIS_URL: redis.url,
  NATS_URL: nats.url,
};
process.stdout.write(`${JSON.stringify(settings)}\n`);
process.stdin.resume().once('end', async () => {
  await Promise.all([postgres.stop(), clickHouse.close(), redis.stop(), nats.stop()]);
  process.exit(0);
});
