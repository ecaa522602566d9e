/**
 * `npm run audit:verify`: proves that no entry of the audit log was altered or
 * removed. One line for each organisation; exit code 1 when a chain is broken.
 * Reads the database that DATABASE_URL names, or else that of `npm start`,
 * whether it runs or not.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { withInstallation } from './start/installation-database.ts';

const root = resolve(import.meta.dirname, '..');
const usage = `Usage: npm run audit:verify -- [options]

  --organisation ID   this one only
  --data DIR          the data of npm start (default .sluice), where DATABASE_URL is not set
  --help              show this text
`;

process.exitCode = await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  return 2;
});

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      organisation: { type: 'string' },
      data: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    process.stdout.write(usage);
    return 0;
  }
  const verify = (databaseUrl: string) => verifyDatabase(databaseUrl, values.organisation);
  const { DATABASE_URL: given } = process.env;
  if (given !== undefined && given !== '') return verify(given);
  const dataDir =
    values.data === undefined
      ? join(root, '.sluice')
      : resolve(process.env.SLUICE_CALLER_DIR ?? process.cwd(), values.data);
  return withInstallation(dataDir, verify);
}

/** The control plane knows how; it gets the address in its environment, where other users cannot read it. */
async function verifyDatabase(
  databaseUrl: string,
  organisation: string | undefined,
): Promise<number> {
  const entry = join(root, 'services/control-plane/src/verify-audit.ts');
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      entry,
      ...(organisation === undefined ? [] : [organisation]),
    ],
    { stdio: 'inherit', env: { ...process.env, DATABASE_URL: databaseUrl } },
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 2;
}
