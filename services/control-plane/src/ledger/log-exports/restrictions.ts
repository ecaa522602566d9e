import { type ExportField, exportField } from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';
import type { Database } from '../../kernel/database/client.ts';
import { effectiveSettings } from '../../kernel/tenancy/settings.ts';
import { findSettings } from './store.ts';

/** Fields that must not leave the system, by the settings that hold in the workspace, or in the organisation. */
export async function listDeniedFields(
  db: Database,
  organisationId: string,
  workspaceId: string | undefined,
): Promise<readonly string[]> {
  const { organisation, workspace } = await findSettings(db, organisationId, workspaceId);
  return effectiveSettings(organisation, workspace).export_settings.deniedFields;
}

/** @throws 400 at the first field that is denied, by any of its names. */
export async function refuseDeniedFields(
  db: Database,
  owner: { organisationId: string; workspaceId: string },
  requested: readonly ExportField[],
): Promise<void> {
  const denied = await listDeniedFields(db, owner.organisationId, owner.workspaceId);
  const fields = new Set(denied.map((name) => exportField(name) ?? name));
  for (const [index, field] of requested.entries())
    if (fields.has(field))
      throw invalidField(
        `body.requested_data[${index}]`,
        `"${field}" must not be exported, by the settings of the organisation`,
      );
}
