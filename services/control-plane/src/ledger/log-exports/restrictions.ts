import { type ExportField, exportField } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import type { Database } from '../../kernel/database/client.ts';
import { effectiveSettings } from '../../kernel/tenancy/settings.ts';
import { findSettings } from './store.ts';

interface Owner {
  readonly organisationId: string;
  readonly workspaceId: string;
}

/** Fields that must not leave the system, by the settings that hold in the workspace, or in the organisation. */
export async function listDeniedFields(
  db: Database,
  organisationId: string,
  workspaceId: string | undefined,
): Promise<readonly string[]> {
  const { organisation, workspace } = await findSettings(db, organisationId, workspaceId);
  return effectiveSettings(organisation, workspace).export_settings.deniedFields;
}

/** The first field that is denied, by any of its names. */
export async function deniedAmong(
  db: Database,
  owner: Owner,
  requested: readonly ExportField[],
): Promise<ExportField | undefined> {
  const denied = await listDeniedFields(db, owner.organisationId, owner.workspaceId);
  const fields = new Set(denied.map((name) => exportField(name) ?? name));
  return requested.find((field) => fields.has(field));
}

/** @throws 400 at the first field that is denied. */
export async function refuseDeniedFields(
  db: Database,
  owner: Owner,
  requested: readonly ExportField[],
): Promise<void> {
  const field = await deniedAmong(db, owner, requested);
  if (field !== undefined)
    throw invalidField(`body.requested_data[${requested.indexOf(field)}]`, deniedWords(field));
}

/**
 * What was written before a field was denied is not given out as long as it is.
 * @throws 400 `admin.refused`
 */
export async function refuseDeniedFile(
  db: Database,
  row: Owner & { requestedData: unknown },
): Promise<void> {
  const field = await deniedAmong(db, row, row.requestedData as ExportField[]);
  if (field !== undefined)
    throw new GatewayError('admin.refused', {
      message: `The file is not given out: ${deniedWords(field)}.`,
    });
}

/** Why a field is not in a file. */
export function deniedWords(field: ExportField): string {
  return `"${field}" must not be exported, by the settings of the organisation`;
}
