import { join } from 'node:path';
import {
  freePort,
  installedPostgres,
  portsFrom,
  postgresSpec,
  postgresUrl,
  type SluiceSecrets,
  startProcess,
} from '@sluice/stack';
import { readSecrets } from './data-dir.ts';
import { beginRun, runningGatewayPort } from './run-file.ts';

/**
 * The Postgres of `npm start`: that of a running installation is used as it runs,
 * that of a stopped one runs for as long as the work takes.
 * @throws Error where there is no data
 */
export async function withInstallation<T>(
  dataDir: string,
  work: (databaseUrl: string, secrets: SluiceSecrets) => Promise<T>,
): Promise<T> {
  const secrets = readSecrets(dataDir);
  if (secrets === undefined)
    throw new Error(`There is no data of Sluice in ${dataDir}. Set DATABASE_URL, or use --data.`);
  const runFile = join(dataDir, 'run.json');
  const gatewayPort = runningGatewayPort(runFile);
  if (gatewayPort !== undefined) {
    const { postgres: port } = portsFrom(gatewayPort);
    return work(postgresUrl(installedPostgres({ dataDir, secrets, port })), secrets);
  }
  const settings = installedPostgres({ dataDir, secrets, port: await freePort() });
  const run = await beginRun(runFile, 0, (line) => process.stderr.write(`${line}\n`));
  try {
    const postgres = await startProcess(postgresSpec(settings));
    run.note('postgres', postgres.pid);
    return await work(postgresUrl(settings), secrets).finally(() => postgres.stop());
  } finally {
    run.end();
  }
}
