import type { JwtSettings } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import type { HostRules } from '@sluice/outbound';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { checkJwtSettings } from './check-settings.ts';
import { auditedSettings, jwtColumns, openJwtSettings, withKeptSecret } from './settings.ts';
import { type AuthSettingsRow, findAuthSettings, updateAuthSettings } from './store.ts';

export interface AuthSettingsParts {
  vault: CredentialVault;
  hostRules: HostRules;
}

export async function readAuthSettings(call: AdminRequest): Promise<{ jwt: JwtSettings | null }> {
  const row = await ownRow(call, call.db);
  return { jwt: row.jwtSettings as JwtSettings | null };
}

/** The settings are replaced as a whole; null takes no tokens any more. */
export function changeJwtSettings(
  call: AdminRequest,
  sent: JwtSettings | null,
  { vault, hostRules }: AuthSettingsParts,
): Promise<void> {
  if (sent !== null) checkJwtSettings(sent, hostRules);
  return call.change(async ({ db, describe, touchOrganisation }) => {
    const row = await ownRow(call, db);
    const settings = sent === null ? null : withKeptSecret(sent, openJwtSettings(vault, row));
    const columns = jwtColumns(vault, row.id, settings);
    await updateAuthSettings(db, row.id, columns, call.now);
    touchOrganisation();
    describe({
      resourceId: row.id,
      before: auditedSettings(row.jwtSettings),
      after: auditedSettings(columns.jwtSettings),
    });
  });
}

async function ownRow(call: AdminRequest, db: Database): Promise<AuthSettingsRow> {
  const row = await findAuthSettings(db, call.caller.organisationId);
  if (row === null) throw new GatewayError('admin.not_found');
  return row;
}
