/**
 * Prepares a database: migrations, the first organisation, its keys, and the
 * demo provider. Run it before the first start; running it again is harmless.
 * Prints one JSON line: the keys when it made them, `{}` when they exist.
 */
import { createLogger } from '@sluice/telemetry';
import { createMintKey } from './api-keys/secrets.ts';
import { createCredentialVault } from './credentials/envelope.ts';
import { createDatabaseClient } from './database/client.ts';
import { env } from './env.ts';
import { ensureFirstOrganisation } from './first-organisation.ts';
import { applyMigrations } from './migrations/apply.ts';

const logger = createLogger({ service: env.SERVICE_NAME, level: env.LOG_LEVEL });

try {
  await applyMigrations(env.DATABASE_URL);
  const client = createDatabaseClient({ url: env.DATABASE_URL, connectionsMax: 2 });
  const keys = await ensureFirstOrganisation({
    client,
    vault: createCredentialVault(env.MASTER_KEY),
    mintKey: createMintKey({ prefix: env.API_KEY_PREFIX, pepper: env.KEY_PEPPER }),
    demoUpstreamUrl: env.DEMO_UPSTREAM_URL,
    now: () => new Date(),
  });
  await client.$disconnect();
  process.stdout.write(`${JSON.stringify(keys ?? {})}\n`);
} catch (error) {
  logger.fatal({ err: error }, 'bootstrap failed');
  process.exitCode = 1;
}
