import type { JsonValue } from '@sluice/contracts';
import type { McpCapabilityType } from '@sluice/contracts/admin';
import { type ScanContext, scanContext, scanDefinition } from '@sluice/mcp';
import type { Prisma } from '../../../generated/prisma/client.ts';
import type { Database } from '../../../kernel/database/client.ts';

/** A definition as a server's list had it. */
export interface Seen {
  readonly type: McpCapabilityType;
  /** What callers ask for: of a resource its URI. */
  readonly name: string;
  /** By `pinOf` of packages/mcp. */
  readonly hash: string;
  /** Undefined = it is beyond measure: its hash alone is kept. */
  readonly definition: Record<string, unknown> | undefined;
}

/** Of the organisation's other servers; more names than models are ever shown. */
const otherToolsMax = 5_000;

export type Findings = Prisma.InputJsonArray;

/**
 * What somebody should look at in definitions that are new or have changed: hidden text, orders to the model,
 * names of other servers' tools, names that look alike.
 */
export async function findingsIn(
  db: Database,
  integrationId: string,
  fresh: readonly Seen[],
): Promise<(each: Seen) => Findings> {
  if (fresh.length === 0) return () => [];
  const context = await contextOf(db, integrationId, fresh);
  return ({ type, definition }) =>
    definition === undefined
      ? []
      : scanDefinition(type, definition as JsonValue, context).map((finding) => ({ ...finding }));
}

async function contextOf(
  db: Database,
  integrationId: string,
  fresh: readonly Seen[],
): Promise<ScanContext> {
  const { organisationId } = await db.mcpIntegration.findUniqueOrThrow({
    where: { id: integrationId },
    select: { organisationId: true },
  });
  const isTool = { type: 'tool', seenHash: { not: null } };
  const [own, others] = await Promise.all([
    db.mcpPin.findMany({ where: { ...isTool, integrationId }, select: { name: true } }),
    db.mcpPin.findMany({
      where: { ...isTool, integration: { organisationId, id: { not: integrationId } } },
      select: { name: true, integration: { select: { slug: true } } },
      orderBy: [{ createdAt: 'desc' }, { name: 'asc' }],
      take: otherToolsMax,
    }),
  ]);
  const names = fresh.filter(({ type }) => type === 'tool').map(({ name }) => name);
  return scanContext(
    [...own.map(({ name }) => name), ...names],
    others.map(({ name, integration }) => ({ name, server: integration.slug })),
  );
}
