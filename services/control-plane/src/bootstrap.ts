/**
 * Prepares a database: migrations, the first organisation, its keys, and the
 * demo provider. Run it before the first start; running it again is harmless.
 * Prints one JSON line: the keys when it made them, `{}` when they exist.
 *
 * With `--organisation NAME --owner-email ADDRESS` it makes a further
 * organisation, and prints its keys.
 */
import { parseArgs } from 'node:util';
import { type NewOrganisation, newOrganisation } from '@sluice/contracts/admin';
import { SettingsError } from '@sluice/env';
import { createLogger, reasonOf } from '@sluice/telemetry';
import { DatabaseError } from 'pg';
import { createCredentialVault } from './kernel/credentials/envelope.ts';
import { createDatabaseClient } from './kernel/database/client.ts';
import { applyMigrations } from './kernel/migrations/apply.ts';
import { UnfitPooler } from './kernel/migrations/own-session.ts';
import { createMintKey } from './people/api-keys/secrets.ts';
import { createOrganisation, strictSettings } from './provisioning/create-organisation.ts';
import { ensureFirstOrganisation } from './provisioning/first-organisation.ts';
import { givenKey } from './provisioning/given-key.ts';
import { settings } from './settings.ts';

/** What stands on the command line: a further organisation, or nothing. */
function wantedOrganisation(): NewOrganisation | undefined {
  const { values } = parseArgs({
    options: { organisation: { type: 'string' }, 'owner-email': { type: 'string' } },
  });
  if (values.organisation === undefined && values['owner-email'] === undefined) return undefined;
  return newOrganisation.parse({
    name: values.organisation,
    ownerEmail: values['owner-email'],
  });
}

/** What its server says, or that there is none: no line of ours is at fault. */
function isOfTheDatabase(error: unknown): boolean {
  const { syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return error instanceof DatabaseError || error instanceof UnfitPooler || syscall !== undefined;
}

let logger = createLogger({ service: 'sluice-control-plane', level: 'info' });
try {
  const env = settings.readEnv(process.env);
  logger = createLogger({ service: env.SERVICE_NAME, level: env.LOG_LEVEL });
  const wanted = wantedOrganisation();
  await applyMigrations(env.DATABASE_URL);
  const client = createDatabaseClient({ url: env.DATABASE_URL, connectionsMax: 2 });
  const parts = {
    client,
    vault: createCredentialVault(env.MASTER_KEY, env.MASTER_KEY_ALSO),
    mintKey: createMintKey({ prefix: env.API_KEY_PREFIX, pepper: env.KEY_PEPPER }),
    mintGiven: {
      admin: givenKey('ADMIN_KEY', env.ADMIN_KEY, env.KEY_PEPPER),
      workspace: givenKey('WORKSPACE_KEY', env.WORKSPACE_KEY, env.KEY_PEPPER),
    },
    demoUpstreamUrl: env.DEMO_UPSTREAM_URL,
    now: () => new Date(),
  };
  const keys =
    wanted === undefined
      ? await ensureFirstOrganisation(parts)
      : await client.$transaction((db) =>
          createOrganisation(db, { ...parts, mintGiven: undefined }, wanted, strictSettings),
        );
  await client.$disconnect();
  process.stdout.write(`${JSON.stringify(keys ?? {})}\n`);
} catch (error) {
  if (error instanceof SettingsError)
    logger.fatal({ faults: error.faults }, 'the settings are not valid: nothing was done');
  else if (isOfTheDatabase(error))
    logger.fatal({ reason: reasonOf(error) }, 'bootstrap failed: the database cannot be used');
  else logger.fatal({ err: error }, 'bootstrap failed');
  process.exitCode = 1;
}
