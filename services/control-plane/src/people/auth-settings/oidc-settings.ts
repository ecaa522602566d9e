import type { OidcSettings } from '@sluice/contracts/admin';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import { guardKeptSecrets } from '../../kernel/credentials/guard-kept-secrets.ts';
import {
  fieldOf,
  keepMasked,
  maskValue,
  type Path,
} from '../../kernel/credentials/secret-fields.ts';
import { bytes } from '../../kernel/database/change.ts';
import type { AuthSettingsRow } from './store.ts';

const table = 'organisations';

type OidcRow = Pick<AuthSettingsRow, 'id' | 'oidcSettings' | 'sealedOidcSecrets'>;

/** Where an organisation's people log in, its secret in clear; undefined = nowhere. */
export function openOidcSettings(vault: CredentialVault, row: OidcRow): OidcSettings | undefined {
  const shown = row.oidcSettings as OidcSettings | null;
  if (shown === null) return undefined;
  if (row.sealedOidcSecrets === null) return shown;
  const sealed = Buffer.from(row.sealedOidcSecrets);
  const { client_secret } = JSON.parse(vault.open(sealed, { table, id: row.id })) as OidcSettings;
  return { ...shown, ...(client_secret === undefined ? {} : { client_secret }) };
}

/** The columns that hold the settings: as they may be shown, and their secret sealed. */
export function oidcColumns(
  vault: CredentialVault,
  organisationId: string,
  settings: OidcSettings | null,
) {
  const client_secret = settings?.client_secret;
  return {
    oidcSettings: settings === null ? null : shownSettings(settings),
    sealedOidcSecrets:
      client_secret === undefined
        ? null
        : bytes(vault.seal(JSON.stringify({ client_secret }), { table, id: organisationId })),
  };
}

function shownSettings(settings: OidcSettings): OidcSettings {
  const { client_secret } = settings;
  return client_secret === undefined
    ? settings
    : { ...settings, client_secret: maskValue(client_secret) };
}

/** A mask means the secret behind it, which stays with its issuer. @throws 400 `admin.secret_required` */
export function withKeptOidcSecret(
  sent: OidcSettings,
  before: OidcSettings | undefined,
): OidcSettings {
  if (sent.client_secret === undefined) return sent;
  const client_secret = keepMasked<string | undefined>(
    before?.client_secret,
    sent.client_secret,
    'body.oidc.client_secret',
  );
  const { client_secret: _, ...rest } = sent;
  const meant = client_secret === undefined ? rest : { ...rest, client_secret };
  guardKeptSecrets(before === undefined ? [] : [holderOf(before)], [holderOf(meant)], sent);
  return meant;
}

function holderOf(settings: OidcSettings) {
  return {
    document: settings,
    shown: shownSettings(settings),
    fieldOf: (path: Path) => fieldOf('body.oidc', path),
  };
}
