import type { BodyOf } from '@sluice/contracts/admin';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import {
  changeIntegration,
  changeReached,
  createIntegration,
  reachIntegration,
} from '../registry/integrations.ts';
import { updateIntegration } from '../registry/integrations-store.ts';
import { replaceOffers } from '../registry/offers-store.ts';
import type { Registry, RegistryParts } from '../registry/registry.ts';
import { type Asked, askServer } from './ask-server.ts';
import { type McpTypes, mcpKind } from './kind.ts';

export type McpRegistry = Registry<McpTypes>;

export function mcpRegistry(parts: RegistryParts): McpRegistry {
  return { ...parts, kind: mcpKind };
}

export function createMcpIntegration(
  call: AdminRequest,
  registry: McpRegistry,
  body: BodyOf<'mcp-integrations.create'>,
) {
  return createIntegration(call, registry, body, { transport: body.transport });
}

/** What was found at another address says nothing of this one. */
export function changeMcpIntegration(
  call: AdminRequest,
  registry: McpRegistry,
  reference: string,
  body: BodyOf<'mcp-integrations.update'>,
): Promise<void> {
  return changeIntegration(call, registry, reference, body, {
    transport: body.transport,
    ...(body.url === undefined ? {} : { syncStatus: 'pending', syncError: null }),
  });
}

/** Asks the server, and keeps what it says: who it is, what it offers, or why it did not answer. */
export async function testIntegration(
  call: AdminRequest,
  registry: McpRegistry,
  reference: string,
): Promise<Asked['answer']> {
  const asked = await reachIntegration(call, call.db, mcpKind, reference);
  const { answer, found } = await askServer(registry, asked);
  await changeReached(call, registry, asked.id, async ({ db, describe }, row) => {
    describe({ detail: { slug: row.slug, success: answer.success } });
    // Somebody gave it another address meanwhile: the answer is about the old one.
    if (row.url !== asked.url) return row;
    if (found === undefined)
      return updateIntegration(db, mcpKind, row.id, {
        syncStatus: 'failed',
        syncError: answer.error,
      });
    const { offers, capabilityFlags, ...server } = found;
    await replaceOffers(db, mcpKind, row.id, offers, call.now);
    return updateIntegration(db, mcpKind, row.id, {
      ...server,
      capabilityFlags: capabilityFlags as Record<string, never>,
      syncStatus: 'synced',
      syncError: null,
      lastSyncedAt: call.now,
    });
  });
  return answer;
}
