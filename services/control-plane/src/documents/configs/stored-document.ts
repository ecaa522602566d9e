import { parseText } from '@sluice/json';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import { holdsSecrets, maskDocument } from '../../kernel/credentials/secret-fields.ts';
import { bytes } from '../../kernel/database/change.ts';

const table = 'config_versions';

interface StoredDocument {
  body: string;
  sealedBody: Uint8Array | null;
}

/**
 * The columns of a version that hold its document. One without credentials is
 * kept as it is; of one with them, the row has the masked form in clear and the
 * whole sealed, bound to this row.
 */
export function documentColumns(
  vault: CredentialVault,
  versionId: string,
  document: Readonly<Record<string, unknown>>,
) {
  const text = JSON.stringify(document);
  if (!holdsSecrets(document)) return { body: text, sealedBody: null };
  return {
    body: JSON.stringify(maskDocument(document)),
    sealedBody: bytes(vault.seal(text, { table, id: versionId })),
  };
}

/** The document as it may be shown, as JSON text. Rows from before sealing may hold credentials in clear. */
export function shownDocument({ body, sealedBody }: StoredDocument): string {
  if (sealedBody !== null) return body;
  const document: unknown = parseText(body);
  return holdsSecrets(document) ? JSON.stringify(maskDocument(document)) : body;
}

/** The document with its credentials, as JSON text. */
export function openDocument(
  vault: CredentialVault,
  version: StoredDocument & { id: string },
): string {
  if (version.sealedBody === null) return version.body;
  return vault.open(Buffer.from(version.sealedBody), { table, id: version.id });
}
