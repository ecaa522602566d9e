import { Prisma } from '../../generated/prisma/client.ts';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import { lockOrganisation } from '../../kernel/database/change.ts';
import type { Database, DatabaseClient } from '../../kernel/database/client.ts';
import { credentialColumns, openCredentials } from './credentials.ts';
import { modelSettingsColumns, openModelSettings } from './model-settings.ts';

/**
 * Rows of the release before, which kept headers in clear whose names do not
 * sound secret, become as they would be written today. Runs at each start, and
 * finds nothing from the second one on. What a gateway is given stays the same.
 * @returns how many rows were sealed
 */
export async function sealOpenHeaders(
  client: DatabaseClient,
  vault: CredentialVault,
): Promise<number> {
  let sealed = 0;
  for (const { id } of await organisationsConcerned(client))
    sealed += await client.$transaction((db) => sealOfOrganisation(db, vault, id), {
      maxWait: 30_000,
      timeout: 60_000,
    });
  return sealed;
}

async function sealOfOrganisation(
  db: Database,
  vault: CredentialVault,
  organisationId: string,
): Promise<number> {
  // As every change does: none can come between what is read here and what is written.
  await lockOrganisation(db, organisationId);
  const integrations = await db.integration.findMany({
    where: { id: { in: await idsOf(db, organisationId, 'integrations') } },
  });
  for (const row of integrations) {
    const { configurations } = credentialColumns(vault, row.id, openCredentials(vault, row));
    await db.integration.update({ where: { id: row.id }, data: { configurations } });
  }
  const models = await db.integrationModel.findMany({
    where: { integrationId: { in: await idsOf(db, organisationId, 'integration_models') } },
  });
  for (const row of models) {
    const { integrationId, slug } = row;
    await db.integrationModel.update({
      where: { integrationId_slug: { integrationId, slug } },
      data: modelSettingsColumns(vault, integrationId, slug, openModelSettings(vault, row)),
    });
  }
  return integrations.length + models.length;
}

/** A header that is shown as it is, and is no mask. */
const holdsOpenHeader = (table: string) =>
  Prisma.raw(`
  CASE WHEN jsonb_typeof(${table}.configurations->'custom_headers') = 'object'
    THEN EXISTS (SELECT FROM jsonb_each_text(${table}.configurations->'custom_headers') AS header
      WHERE header.value <> '' AND header.value !~ '^([*]{7}|.{2}[*]{7}.{2})$')
    ELSE false END`);

function organisationsConcerned(client: DatabaseClient): Promise<{ id: string }[]> {
  return client.$queryRaw(Prisma.sql`
    SELECT DISTINCT i.organisation_id::text AS id
    FROM integrations i LEFT JOIN integration_models m ON m.integration_id = i.id
    WHERE ${holdsOpenHeader('i')} OR ${holdsOpenHeader('m')}`);
}

async function idsOf(
  db: Database,
  organisationId: string,
  table: 'integrations' | 'integration_models',
): Promise<string[]> {
  const rows = await db.$queryRaw<{ id: string }[]>(
    table === 'integrations'
      ? Prisma.sql`SELECT i.id::text AS id FROM integrations i
          WHERE i.organisation_id = ${organisationId}::uuid AND ${holdsOpenHeader('i')}`
      : Prisma.sql`SELECT DISTINCT i.id::text AS id
          FROM integrations i JOIN integration_models m ON m.integration_id = i.id
          WHERE i.organisation_id = ${organisationId}::uuid AND ${holdsOpenHeader('m')}`,
  );
  return rows.map((row) => row.id);
}
