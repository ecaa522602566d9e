import { isDeepStrictEqual } from 'node:util';
import { parseText } from '@sluice/json';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import { bytes } from '../../kernel/database/change.ts';
import { shownConfigurations } from './configurations.ts';

const table = 'integration_models';
const addressOf = (integrationId: string, slug: string) => ({
  table,
  id: `${integrationId}/${slug}`,
});

/** The columns of a model that hold its settings: as they may be shown, and sealed when that is not all of them. */
export function modelSettingsColumns(
  vault: CredentialVault,
  integrationId: string,
  slug: string,
  settings: Readonly<Record<string, unknown>>,
) {
  const shown = shownConfigurations(settings);
  const sealed = isDeepStrictEqual(shown, settings)
    ? null
    : bytes(vault.seal(JSON.stringify(settings), addressOf(integrationId, slug)));
  return { configurations: shown as Record<string, never>, sealedConfigurations: sealed };
}

export function openModelSettings(
  vault: CredentialVault,
  row: {
    integrationId: string;
    slug: string;
    configurations: unknown;
    sealedConfigurations: Uint8Array | null;
  },
): Record<string, unknown> {
  if (row.sealedConfigurations === null) return row.configurations as Record<string, unknown>;
  const address = addressOf(row.integrationId, row.slug);
  return parseText(vault.open(Buffer.from(row.sealedConfigurations), address)) as Record<
    string,
    unknown
  >;
}
