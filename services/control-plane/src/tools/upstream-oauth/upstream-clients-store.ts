import { bytes } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';

export async function findClient(
  db: Database,
  integrationId: string,
  name: Buffer,
): Promise<Uint8Array | undefined> {
  const row = await db.mcpUpstreamClient.findUnique({
    where: { integrationId_nameHash: { integrationId, nameHash: bytes(name) } },
    select: { sealedClient: true },
  });
  return row?.sealedClient;
}

/** Of several at once the last stays; the others work as well. */
export async function insertClient(
  db: Database,
  integrationId: string,
  name: Buffer,
  { sealed, createdAt }: { sealed: Buffer; createdAt: Date },
): Promise<void> {
  const row = { sealedClient: bytes(sealed), createdAt };
  await db.mcpUpstreamClient.upsert({
    where: { integrationId_nameHash: { integrationId, nameHash: bytes(name) } },
    create: { integrationId, nameHash: bytes(name), ...row },
    update: row,
  });
}

export async function deleteClient(
  db: Database,
  integrationId: string,
  name: Buffer,
): Promise<void> {
  await db.mcpUpstreamClient.deleteMany({ where: { integrationId, nameHash: bytes(name) } });
}
