/**
 * Makes a further admin key of the first organisation, or of `--organisation ID`,
 * and prints it as one JSON line. `--print` prints one that is kept nowhere, to be
 * preset as ADMIN_KEY. Run by `npm run admin-key`.
 */
import { parseArgs } from 'node:util';
import { createServiceKey } from '@sluice/contracts';
import { bytesSecret, defineSettings, secret, text } from '@sluice/env';
import { createDatabaseClient } from './kernel/database/client.ts';
import { createMintKey } from './people/api-keys/secrets.ts';
import { makeAdminKey } from './provisioning/make-admin-key.ts';

const settings = defineSettings({
  'Admin key': {
    DATABASE_URL: secret('Postgres, postgres://user:password@host:port/database'),
    KEY_PEPPER: bytesSecret('pepper of the key hashes, the same as the control plane’s', 32),
    API_KEY_PREFIX: text('what new service keys begin with', 'sl_'),
  },
});

try {
  const { values } = parseArgs({
    options: { organisation: { type: 'string' }, print: { type: 'boolean' } },
  });
  process.stdout.write(`${values.print === true ? printed() : await made(values.organisation)}\n`);
} catch (error) {
  process.stderr.write(`No admin key was made. ${(error as Error).message}\n`);
  process.exitCode = 1;
}

function printed(): string {
  return createServiceKey(process.env.API_KEY_PREFIX ?? 'sl_');
}

async function made(organisationId: string | undefined): Promise<string> {
  const env = settings.readEnv(process.env);
  const client = createDatabaseClient({ url: env.DATABASE_URL, connectionsMax: 2 });
  try {
    const mintKey = createMintKey({ prefix: env.API_KEY_PREFIX, pepper: env.KEY_PEPPER });
    const of = { organisationId: organisationId?.toLowerCase(), now: new Date() };
    return JSON.stringify(await makeAdminKey(client, mintKey, of));
  } finally {
    await client.$disconnect();
  }
}
