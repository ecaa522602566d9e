import type { DatabaseClient } from '../database/client.ts';
import { isUuid } from '../database/ids.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** Everything a bundle is built from, read at one moment. */
export type BundleRows = NonNullable<Awaited<ReturnType<typeof readBundleRows>>>;

/** `undefined` when there is no such workspace, or it is archived. */
export async function readBundleRows(client: DatabaseClient, workspaceId: string) {
  if (!isUuid(workspaceId)) return undefined;
  return client.$transaction(
    async (db) => {
      const workspace = await db.workspace.findFirst({
        where: { id: workspaceId.toLowerCase(), status: 'active' },
        include: { organisation: { select: { blockInlineConfig: true } } },
      });
      if (workspace === null) return undefined;
      const id = workspace.id;
      const configs = await db.config.findMany({ where: { workspaceId: id, status: 'active' } });
      const versions = await db.configVersion.findMany({
        where: { OR: configs.map((config) => ({ configId: config.id, version: config.version })) },
      });
      const providers = await db.provider.findMany({
        where: { workspaceId: id },
        include: {
          integration: { include: { models: true, grants: { where: { workspaceId: id } } } },
        },
      });
      const policies = await db.rateLimitsPolicy.findMany({
        where: { workspaceId: id, status: 'active', target: 'llm' },
      });
      return { workspace, configs, versions, providers, policies };
    },
    // One moment for all of it, or the revision would not fit the content.
    {
      isolationLevel: Prisma.TransactionIsolationLevel.RepeatableRead,
      maxWait: 5_000,
      timeout: 15_000,
    },
  );
}
