import { startClickHouseFront } from './clickhouse-front.ts';

/**
 * ClickHouse's interface over the embedded engine, in a process of its own, for `npm run batches:measure -- --ledger-apart`:
 * prints its address as one line, and runs until its input ends. The data is in the folder that the argument names.
 */
const [dataDir] = process.argv.slice(2);
const front = await startClickHouseFront(dataDir === undefined ? {} : { dataDir });
process.stdout.write(`${front.url}\n`);
process.stdin.resume().once('end', async () => {
  await front.close();
  process.exit(0);
});
