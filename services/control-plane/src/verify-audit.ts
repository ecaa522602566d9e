/**
 * Verifies the audit chain of every organisation, or of the one whose id is the
 * argument: one line each, exit code 1 when one is broken, 2 when that could not
 * be seen. Reads only, and needs nothing but the database's address. Run by
 * `npm run audit:verify`.
 */
import { createDatabaseClient, type DatabaseClient } from './kernel/database/client.ts';
import { listOrganisationIds } from './ledger/audit-logs/store.ts';
import { verifyOrganisation } from './ledger/audit-logs/verify-organisation.ts';
import { databaseOnly } from './settings.ts';

try {
  await verify(databaseOnly.readEnv(process.env).DATABASE_URL);
} catch (error) {
  // What the database's client has to say of its own code stands before the reason.
  const reason = (error as Error).message.split('\n\n').at(-1)?.trim();
  process.stderr.write(`The audit log could not be verified. ${reason}\n`);
  process.exitCode = 2;
}

async function verify(url: string): Promise<void> {
  const client = createDatabaseClient({ url, connectionsMax: 2 });
  try {
    const known = await listOrganisationIds(client);
    const asked = process.argv[2]?.toLowerCase();
    const ids = asked === undefined ? known : known.filter((id) => id === asked);
    if (asked !== undefined && ids.length === 0)
      throw new Error(`There is no organisation ${asked}.`);
    for (const id of ids) process.stdout.write(`${id}  ${await report(client, id)}\n`);
  } finally {
    await client.$disconnect();
  }
}

async function report(client: DatabaseClient, organisationId: string): Promise<string> {
  const { entries, fault, head } = await verifyOrganisation(client, organisationId);
  if (fault === undefined)
    return `valid  ${entries} entries  head ${Buffer.from(head.hash).toString('hex')}`;
  process.exitCode = 1;
  const entry = fault.id === undefined ? '' : ` (entry ${fault.id})`;
  return `BROKEN  at sequence ${fault.sequence}${entry}: ${fault.reason}. ${fault.message}`;
}
