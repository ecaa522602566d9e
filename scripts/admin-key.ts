/**
 * `npm run admin-key`: makes a further admin key, for whoever has lost the first
 * one, and prints it as one JSON line. It is made in the database that
 * DATABASE_URL names, with the control plane's KEY_PEPPER, or else in that of
 * `npm start`, whether it runs or not; there `credentials.json` has it as well.
 */
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { readCredentials, writeCredentials } from './start/data-dir.ts';
import { withInstallation } from './start/installation-database.ts';

const root = resolve(import.meta.dirname, '..');
const usage = `Usage: npm run admin-key -- [options]

  --organisation ID   of this organisation; without it, of the first
  --data DIR          the data of npm start (default .sluice), where DATABASE_URL is not set
  --print             print a key and change nothing: to be preset as ADMIN_KEY
  --help              show this text

With DATABASE_URL it needs the control plane's KEY_PEPPER. Keys that are lost are
deleted with the new one, by DELETE /v1/api-keys/{id}.
`;

process.exitCode = await main().catch((error: Error & { stderr?: string }) => {
  process.stderr.write(error.stderr || `${error.message}\n`);
  return 1;
});

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      organisation: { type: 'string' },
      data: { type: 'string' },
      print: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    process.stdout.write(usage);
    return 0;
  }
  const { organisation, print, data } = values;
  const args = [
    ...(organisation === undefined ? [] : ['--organisation', organisation]),
    ...(print === true ? ['--print'] : []),
  ];
  if (print === true || (process.env.DATABASE_URL ?? '') !== '') {
    process.stdout.write(await make(args, {}));
    return 0;
  }
  const dataDir =
    data === undefined
      ? join(root, '.sluice')
      : resolve(process.env.SLUICE_CALLER_DIR ?? process.cwd(), data);
  const line = await withInstallation(dataDir, (databaseUrl, { key_pepper }) =>
    make(args, { DATABASE_URL: databaseUrl, KEY_PEPPER: key_pepper }),
  );
  const known = readCredentials(dataDir);
  const made = JSON.parse(line) as { admin_key: string; organisation_id: string };
  if (known?.organisation_id === made.organisation_id)
    writeCredentials(dataDir, { ...known, admin_key: made.admin_key });
  process.stdout.write(line);
  return 0;
}

/** The control plane knows how; secrets go by its environment, where other users cannot read them. */
async function make(args: readonly string[], env: Record<string, string>): Promise<string> {
  const entry = join(root, 'services/control-plane/src/admin-key.ts');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', entry, ...args],
    { env: { ...process.env, ...env } },
  );
  return stdout;
}
