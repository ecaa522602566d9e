import type { JwtSettings } from '@sluice/contracts/admin';
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

/** How an organisation's tokens are validated, secrets in clear; undefined = it takes none. */
export function openJwtSettings(
  vault: CredentialVault,
  row: AuthSettingsRow,
): JwtSettings | undefined {
  const shown = row.jwtSettings as JwtSettings | null;
  if (shown === null) return undefined;
  if (shown.introspection === undefined || row.sealedJwtSecrets === null) return shown;
  const sealed = Buffer.from(row.sealedJwtSecrets);
  const secrets = JSON.parse(vault.open(sealed, { table, id: row.id })) as Secrets;
  return { ...shown, introspection: { ...shown.introspection, ...secrets } };
}

interface Secrets {
  client_secret: string;
}

/** The columns that hold settings: as they may be shown, and their one secret sealed. */
export function jwtColumns(
  vault: CredentialVault,
  organisationId: string,
  settings: JwtSettings | null,
) {
  const clientSecret = settings?.introspection?.client_secret;
  if (clientSecret === undefined) return { jwtSettings: settings, sealedJwtSecrets: null };
  const secrets: Secrets = { client_secret: clientSecret };
  return {
    jwtSettings: shownSettings(settings),
    sealedJwtSecrets: bytes(vault.seal(JSON.stringify(secrets), { table, id: organisationId })),
  };
}

function shownSettings(settings: JwtSettings | null): JwtSettings | null {
  const introspection = settings?.introspection;
  if (settings === null || introspection?.client_secret === undefined) return settings;
  const masked = maskValue(introspection.client_secret);
  return { ...settings, introspection: { ...introspection, client_secret: masked } };
}

/** What the audit log says of settings: of pasted keys their names, since `keys` are masked there. */
export function auditedSettings(shown: unknown): object {
  const settings = shown as JwtSettings | null;
  if (settings?.jwks === undefined) return { jwt: settings };
  const { jwks, ...others } = settings;
  return { jwt: { ...others, jwks_kids: jwks.keys.map(({ kid }) => kid) } };
}

/**
 * The settings that are meant by who sends back a secret as it was shown to
 * them: the one that is kept, which stays with its address.
 * @throws 400, `admin.secret_required` when the address changes
 */
export function withKeptSecret(sent: JwtSettings, before: JwtSettings | undefined): JwtSettings {
  const client_secret = sent.introspection?.client_secret;
  if (sent.introspection === undefined || client_secret === undefined) return sent;
  const kept = keepMasked<string | undefined>(
    before?.introspection?.client_secret,
    client_secret,
    'body.jwt.introspection.client_secret',
  );
  const meant = { ...sent, introspection: { ...sent.introspection, client_secret: kept } };
  guardKeptSecrets(before === undefined ? [] : [holderOf(before)], [holderOf(meant)], sent);
  return meant;
}

/** The rest of the settings is about tokens, not about whom to ask. */
function holderOf(settings: JwtSettings) {
  return {
    document: { introspection: settings.introspection },
    shown: { introspection: shownSettings(settings)?.introspection },
    fieldOf: (path: Path) => fieldOf('body.jwt', path),
  };
}
