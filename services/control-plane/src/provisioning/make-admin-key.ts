import { scopesOf } from '@sluice/contracts';
import { commitChange } from '../kernel/database/change.ts';
import type { DatabaseClient } from '../kernel/database/client.ts';
import { insertMintedKey } from '../people/api-keys/insert-minted-key.ts';
import type { MintKey } from '../people/api-keys/secrets.ts';
import { commandLineEntry } from './create-organisation.ts';

/**
 * A further organisation key that may do everything, for an operator whose first
 * one is lost; the audit log names the command line. @param organisationId undefined = the first organisation
 * @throws Error where there is no such organisation
 */
export async function makeAdminKey(
  client: DatabaseClient,
  mintKey: MintKey,
  { organisationId, now }: { organisationId: string | undefined; now: Date },
): Promise<{ admin_key: string; organisation_id: string }> {
  const organisation = await client.organisation.findFirst({
    where: organisationId === undefined ? {} : { id: organisationId },
    orderBy: { createdAt: 'asc' },
  });
  if (organisation === null)
    throw new Error(
      organisationId === undefined
        ? 'The database has no organisation yet: the first start makes it, with its keys.'
        : `There is no organisation ${organisationId}.`,
    );
  const entry = commandLineEntry(organisation.id, 'api_keys', 'create', now);
  const { key } = await commitChange(client, entry, async ({ db, describe }) => {
    const made = await insertMintedKey(db, mintKey, {
      organisationId: organisation.id,
      type: 'organisation-service',
      name: 'Admin key of the command line',
      scopes: scopesOf('organisation-service'),
      creationMode: 'auto',
      now,
    });
    describe({ resourceId: made.id });
    return made;
  });
  return { admin_key: key, organisation_id: organisation.id };
}
