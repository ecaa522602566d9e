import { secretManagerAuth } from '@sluice/contracts/admin';
import { parseText } from '@sluice/json';
import { z } from 'zod';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import { guardKeptSecrets } from '../../kernel/credentials/guard-kept-secrets.ts';
import {
  fieldOf,
  keepMasked,
  maskValue,
  type Path,
} from '../../kernel/credentials/secret-fields.ts';
import { bytes } from '../../kernel/database/change.ts';
import { parseInput } from '../../kernel/http/parse-input.ts';
import type { SecretReferenceRow } from './store.ts';

/** How to sign in to a secret manager, its secrets in clear. */
export type AuthConfig = Readonly<Record<string, string>>;

/** Beside real secrets, what tells an attacker whom to impersonate. */
const masked = new Set([
  'aws_access_key_id',
  'aws_secret_access_key',
  'aws_role_arn',
  'aws_external_id',
  'azure_entra_client_secret',
  'vault_token',
  'vault_role_id',
  'vault_secret_id',
]);

const table = 'secret_references';

/** The columns of a row that hold its sign-in: sealed, and as it may be shown. */
export function authConfigColumns(vault: CredentialVault, id: string, config: AuthConfig) {
  return {
    sealedAuthConfig: bytes(vault.seal(JSON.stringify(config), { table, id })),
    authConfig: shownAuthConfig(config),
  };
}

function shownAuthConfig(config: AuthConfig): Record<string, string> {
  return Object.fromEntries(
    Object.entries(config).map(([name, value]) =>
      masked.has(name) ? [`masked_${name}`, maskValue(value)] : [name, value],
    ),
  );
}

/**
 * The stored sign-in with a change merged in, still one that its manager takes.
 * What is named replaces, null removes, the rest stays; masks as they were
 * shown change nothing. Secrets stay with the manager's address.
 * @throws 400, `admin.secret_required` when the address changes and a secret is not sent
 */
export function mergedAuthConfig(
  vault: CredentialVault,
  row: SecretReferenceRow,
  change: Readonly<Record<string, unknown>>,
): AuthConfig {
  const before = parseText(
    vault.open(Buffer.from(row.sealedAuthConfig), { table, id: row.id }),
  ) as AuthConfig;
  const merged: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(change)) {
    if (name.startsWith('masked_')) continue;
    if (value === null) delete merged[name];
    else
      merged[name] = masked.has(name)
        ? keepMasked<unknown>(before[name], value, `body.auth_config.${name}`)
        : value;
  }
  const schema = z.object({ auth_config: secretManagerAuth[managerOf(row)] });
  const after = presentSettings(parseInput(schema, { auth_config: merged }, 'body').auth_config);
  guardKeptSecrets([holderOf(before)], [holderOf(after)], change);
  return after;
}

function holderOf(config: AuthConfig) {
  return {
    document: config,
    shown: shownAuthConfig(config),
    fieldOf: (path: Path) => fieldOf('body.auth_config', path),
  };
}

/** Without the settings that are not set. */
export function presentSettings(config: Readonly<Record<string, unknown>>): AuthConfig {
  return Object.fromEntries(
    Object.entries(config).filter((entry): entry is [string, string] => entry[1] != null),
  );
}

function managerOf(row: SecretReferenceRow): keyof typeof secretManagerAuth {
  return row.managerType as keyof typeof secretManagerAuth;
}
