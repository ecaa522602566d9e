/**
 * A ClickHouse server for `npm run backup:rehearse`: `clickhouse-main.ts FOLDER PORT` keeps its data in FOLDER/data and may back up to
 * FOLDER/backups, the disk `backups`. It has no other process's engine: that reads `config.xml` of the folder it runs in.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startClickHouseFront } from './clickhouse-front.ts';

const [folder = '', port] = process.argv.slice(2);
const [dataDir, backups] = [join(folder, 'data'), join(folder, 'backups')];
for (const path of [dataDir, backups]) mkdirSync(path, { recursive: true });
writeFileSync(
  join(folder, 'config.xml'),
  `<clickhouse>
  <storage_configuration><disks><backups><type>local</type><path>${backups}/</path></backups></disks></storage_configuration>
  <backups><allowed_disk>backups</allowed_disk></backups>
</clickhouse>
`,
);
process.chdir(folder);
const front = await startClickHouseFront({ dataDir, port: Number(port) });
process.once('SIGTERM', async () => {
  await front.close();
  process.exit(0);
});
process.stdout.write('ready\n');
process.send?.({ started: true });
