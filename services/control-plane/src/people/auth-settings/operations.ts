import type { JwtSettings, OidcSettings } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import type { HostRules } from '@sluice/outbound';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import type { Database } from '../../kernel/database/client.ts';
import { checkAddress } from '../../kernel/http/check-address.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { checkJwtSettings } from './check-settings.ts';
import { idleJwtSettings } from './idle-settings.ts';
import { oidcColumns, openOidcSettings, withKeptOidcSecret } from './oidc-settings.ts';
import { auditedSettings, jwtColumns, openJwtSettings, withKeptSecret } from './settings.ts';
import {
  type AuthData,
  type AuthSettingsRow,
  findAuthSettings,
  jwtData,
  oidcData,
  updateAuthSettings,
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

/** What is sent of the two is replaced as a whole, or nothing is. Null of `jwt` takes no tokens any more, of `oidc` lets nobody log in there. */
export function changeAuthSettings(
  call: AdminRequest,
  { jwt, oidc }: { jwt?: JwtSettings | null | undefined; oidc?: OidcSettings | null | undefined },
  { vault, hostRules }: AuthSettingsParts,
): Promise<void> {
  if (jwt != null) {
    checkJwtSettings(jwt, hostRules);
    call.notes.warnings.push(...idleJwtSettings(jwt, (call.body as { jwt: unknown }).jwt));
  }
  if (oidc != null) checkAddress(oidc.issuer, 'body.oidc.issuer', hostRules);
  return call.change(async ({ db, describe, touchOrganisation }) => {
    const row = await ownRow(call, db);
    const before: object[] = [];
    const after: object[] = [];
    const data: AuthData = {};
    if (jwt !== undefined) {
      const settings = jwt && withKeptSecret(jwt, openJwtSettings(vault, row));
      const columns = jwtColumns(vault, row.id, settings);
      Object.assign(data, jwtData(columns));
      before.push(auditedSettings(row.jwtSettings));
      after.push(auditedSettings(columns.jwtSettings));
      touchOrganisation();
    }
    if (oidc !== undefined) {
      const settings = oidc && withKeptOidcSecret(oidc, openOidcSettings(vault, row));
      const columns = oidcColumns(vault, row.id, settings);
      Object.assign(data, oidcData(columns));
      before.push({ oidc: row.oidcSettings });
      after.push({ oidc: columns.oidcSettings });
    }
    await updateAuthSettings(db, row.id, data, call.now);
    describe({
      resourceId: row.id,
      before: Object.assign({}, ...before),
      after: Object.assign({}, ...after),
    });
  });
}

async function ownRow(call: AdminRequest, db: Database): Promise<AuthSettingsRow> {
  const row = await findAuthSettings(db, call.caller.organisationId);
  if (row === null) throw new GatewayError('admin.not_found');
  return row;
}
