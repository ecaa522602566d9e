import type { JwtSettings, OidcSettings } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import type { HostRules } from '@sluice/outbound';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import type { Database } from '../../kernel/database/client.ts';
import { checkAddress } from '../../kernel/http/check-address.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { checkJwtSettings } from './check-settings.ts';
import { oidcColumns, openOidcSettings, withKeptOidcSecret } from './oidc-settings.ts';
import { auditedSettings, jwtColumns, openJwtSettings, withKeptSecret } from './settings.ts';
import {
  type AuthSettingsRow,
  findAuthSettings,
  updateAuthSettings,
  updateOidcSettings,
} from './store.ts';

export interface AuthSettingsParts {
  vault: CredentialVault;
  hostRules: HostRules;
}

export async function readAuthSettings(
  call: AdminRequest,
): Promise<{ jwt: JwtSettings | null; oidc: OidcSettings | null }> {
  const row = await ownRow(call, call.db);
  return {
    jwt: row.jwtSettings as JwtSettings | null,
    oidc: row.oidcSettings as OidcSettings | null,
  };
}

/** Replaced as a whole, too; null lets nobody log in there any more. */
export function changeOidcSettings(
  call: AdminRequest,
  sent: OidcSettings | null,
  { vault, hostRules }: AuthSettingsParts,
): Promise<void> {
  if (sent !== null) checkAddress(sent.issuer, 'body.oidc.issuer', hostRules);
  return call.change(async ({ db, describe }) => {
    const row = await ownRow(call, db);
    const settings = sent === null ? null : withKeptOidcSecret(sent, openOidcSettings(vault, row));
    const columns = oidcColumns(vault, row.id, settings);
    await updateOidcSettings(db, row.id, columns, call.now);
    describe({
      resourceId: row.id,
      before: { oidc: row.oidcSettings },
      after: { oidc: columns.oidcSettings },
    });
  });
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
