import { parseText } from '@sluice/json';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import { maskValue } from '../../kernel/credentials/secret-fields.ts';
import { bytes } from '../../kernel/database/change.ts';
import { type Credentials, shownConfigurations } from './configurations.ts';

const table = 'integrations';

/** The columns of a row that hold its credentials: sealed, and as they may be shown. */
export function credentialColumns(vault: CredentialVault, id: string, credentials: Credentials) {
  return {
    sealedCredentials: bytes(vault.seal(JSON.stringify(credentials), { table, id })),
    maskedKey: credentials.key === null ? null : maskValue(credentials.key),
    configurations: shownConfigurations(credentials.configurations) as Record<string, never>,
  };
}

export function openCredentials(
  vault: CredentialVault,
  row: { id: string; sealedCredentials: Uint8Array },
): Credentials {
  return parseText(
    vault.open(Buffer.from(row.sealedCredentials), { table, id: row.id }),
  ) as Credentials;
}
