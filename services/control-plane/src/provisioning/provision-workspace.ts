import { insertDefaultCollection } from '../documents/collections/store.ts';
import type { Database } from '../kernel/database/client.ts';
import type { WorkspaceRow } from '../kernel/tenancy/find-workspace.ts';
import { grantGlobalIntegrations } from '../models/integrations/grants.ts';
import { agentKind } from '../tools/agent-integrations/kind.ts';
import { mcpKind } from '../tools/mcp-integrations/kind.ts';
import { grantGlobalAccess } from '../tools/registry/grants-store.ts';

/** What every new workspace is made with: a collection, and access to what is open to all. */
export async function provisionWorkspace(
  db: Database,
  workspace: WorkspaceRow,
  now: Date,
): Promise<void> {
  await insertDefaultCollection(db, workspace, now);
  await grantGlobalIntegrations(db, workspace, now);
  await grantGlobalAccess(db, [mcpKind, agentKind], workspace, now);
}
