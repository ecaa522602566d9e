import { secretManagerAuth } from '@sluice/contracts/admin';
import { z } from 'zod';
import type { CredentialVault } from '../credentials/envelope.ts';
import { maskValue } from '../credentials/secret-fields.ts';
import { bytes } from '../database/change.ts';
import { parseInput } from '../http/parse-input.ts';
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
    authConfig: Object.fromEntries(
      Object.entries(config).map(([name, value]) =>
        masked.has(name) ? [`masked_${name}`, maskValue(value)] : [name, value],
      ),
    ),
  };
}

/**
 * The stored sign-in with a change merged in, still one that its manager takes.
 * What is named replaces, null removes, the rest stays; masks as they were
 * shown change nothing.
 */
export function mergedAuthConfig(
  vault: CredentialVault,
  row: SecretReferenceRow,
  change: Readonly<Record<string, unknown>>,
): AuthConfig {
  const before = JSON.parse(
    vault.open(Buffer.from(row.sealedAuthConfig), { table, id: row.id }),
  ) as AuthConfig;
  const merged: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(change)) {
    if (name.startsWith('masked_')) continue;
    const stored = before[name];
    if (masked.has(name) && stored !== undefined && value === maskValue(stored)) continue;
    if (value === null) delete merged[name];
    else merged[name] = value;
  }
  const schema = z.object({ auth_config: secretManagerAuth[managerOf(row)] });
  return presentSettings(parseInput(schema, { auth_config: merged }, 'body').auth_config);
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
