import type { CredentialVault } from '../credentials/envelope.ts';
import { maskDocument, restoreSecrets } from '../credentials/secret-fields.ts';
import { bytes } from '../database/change.ts';
import type { IntegrationRow, RegistryKind } from './tables.ts';

/** How an integration is called: headers, sign-in, forwarding. Secrets stand in it at any depth. */
export type Configurations = Readonly<Record<string, unknown>>;

/** Each value is sealed for one row of one table. */
function addressOf(kind: RegistryKind, id: string) {
  return { table: `${kind}_integrations`, id };
}

/** The columns that hold the settings: sealed, and as they may be shown. */
export function configurationColumns(
  vault: CredentialVault,
  kind: RegistryKind,
  id: string,
  configurations: Configurations,
) {
  return {
    sealedConfigurations: bytes(vault.seal(JSON.stringify(configurations), addressOf(kind, id))),
    configurations: maskDocument(configurations) as Record<string, never>,
  };
}

/** The settings with their secrets in clear. */
export function openConfigurations(
  vault: CredentialVault,
  kind: RegistryKind,
  row: Pick<IntegrationRow, 'id' | 'sealedConfigurations'>,
): Configurations {
  const sealed = Buffer.from(row.sealedConfigurations);
  return JSON.parse(vault.open(sealed, addressOf(kind, row.id))) as Configurations;
}

/** What is named replaces, null removes, the rest stays; a mask means the secret behind it. */
export function mergeConfigurations(
  before: Configurations,
  change: Configurations | null | undefined,
): Configurations {
  if (change === undefined) return before;
  if (change === null) return {};
  const meant = restoreSecrets(change, before, 'body.configurations') as Configurations;
  return Object.fromEntries(
    Object.entries({ ...before, ...meant }).filter(([, value]) => value !== null),
  );
}
