import type { CredentialVault } from '../kernel/credentials/envelope.ts';

/** What a batch knows that nobody may read in the database. */
export interface SealedJob {
  /** Of its lines; an object. */
  readonly headersJson: string;
  /** What its parts are encrypted with, 32 bytes. */
  readonly dataKey: Buffer;
}

const table = 'batches';

export function sealJob(
  vault: CredentialVault,
  id: string,
  { headersJson, dataKey }: SealedJob,
): Uint8Array<ArrayBuffer> {
  const text = JSON.stringify({ headersJson, dataKey: dataKey.toString('base64') });
  return Uint8Array.from(vault.seal(text, { table, id }));
}

export function openJob(vault: CredentialVault, id: string, sealed: Uint8Array): SealedJob {
  const text = vault.open(Buffer.from(sealed), { table, id });
  const { headersJson, dataKey } = JSON.parse(text) as { headersJson: string; dataKey: string };
  return { headersJson, dataKey: Buffer.from(dataKey, 'base64') };
}
