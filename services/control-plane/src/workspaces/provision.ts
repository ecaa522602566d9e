import { insertDefaultCollection } from '../collections/store.ts';
import type { Database } from '../database/client.ts';
import { grantGlobalIntegrations } from '../integrations/grants.ts';
import { grantGlobalAccess } from '../registries/grants-store.ts';
import type { WorkspaceRow } from './store.ts';

/** What every new workspace is made with: a collection, and access to what is open to all. */
export async function provisionWorkspace(
  db: Database,
  workspace: WorkspaceRow,
  now: Date,
): Promise<void> {
  await insertDefaultCollection(db, workspace, now);
  await grantGlobalIntegrations(db, workspace, now);
  await grantGlobalAccess(db, workspace, now);
}
