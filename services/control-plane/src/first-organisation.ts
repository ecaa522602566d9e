import { scopesOf } from '@sluice/contracts';
import { insertMintedKey } from './api-keys/insert-minted-key.ts';
import type { MintKey } from './api-keys/secrets.ts';
import { chainStart } from './audit-logs/chain.ts';
import { systemEntry } from './audit-logs/system-entry.ts';
import { insertDefaultCollection } from './collections/store.ts';
import type { CredentialVault } from './credentials/envelope.ts';
import { bytes, commitChange } from './database/change.ts';
import type { Database, DatabaseClient } from './database/client.ts';
import { newId } from './database/ids.ts';
import { credentialColumns, openCredentials } from './integrations/credentials.ts';
import {
  findIntegration,
  insertIntegration,
  updateIntegration,
  workspacesUsing,
} from './integrations/store.ts';
import { insertUniversalLabels } from './labels/store.ts';
import { provisionProvider } from './providers/provision.ts';
import { generateSlug } from './slugs/generate-slug.ts';
import { findDefaultWorkspace } from './workspaces/store.ts';

export interface FirstKeys {
  admin_key: string;
  workspace_key: string;
  organisation_id: string;
  workspace_id: string;
  workspace_slug: string;
  demo_provider: string | null;
}

export interface BootstrapParts {
  client: DatabaseClient;
  vault: CredentialVault;
  mintKey: MintKey;
  /** Address of the local demo upstream; without it there is no demo provider. */
  demoUpstreamUrl: string | undefined;
  now: () => Date;
}

const demoSlug = 'demo';
/** Any number will do, as long as every bootstrap uses the same. */
const lockId = 7_271_640_320;

/**
 * Creates the first organisation with its owner, default workspace and keys, and
 * keeps the demo provider's address up to date. Returns the keys when it made
 * them; they are never shown again.
 */
export async function ensureFirstOrganisation(
  parts: BootstrapParts,
): Promise<FirstKeys | undefined> {
  const created = await parts.client.$transaction(async (db) => {
    // Two bootstraps at once must not make two organisations.
    await db.$executeRaw`SELECT pg_advisory_xact_lock(${lockId}::bigint)`;
    return (await db.organisation.count()) > 0 ? undefined : createOrganisation(db, parts);
  });
  const organisation = await parts.client.organisation.findFirstOrThrow({
    orderBy: { createdAt: 'asc' },
  });
  const demo = await ensureDemoProvider(organisation.id, parts);
  return created === undefined ? undefined : { ...created, demo_provider: demo };
}

/** An organisation with an owner, a default workspace, and a key of each service kind that may do everything. */
export async function createOrganisation(
  db: Database,
  parts: Pick<BootstrapParts, 'mintKey' | 'now'>,
): Promise<Omit<FirstKeys, 'demo_provider'>> {
  const now = parts.now();
  const organisationId = newId();
  const ownerId = newId();
  const workspace = { id: newId(), slug: generateSlug('workspace', 'default') };
  const times = { createdAt: now, updatedAt: now };
  await db.organisation.create({
    data: {
      id: organisationId,
      name: 'Default organisation',
      auditHash: bytes(chainStart),
      ...times,
    },
  });
  await db.user.create({
    data: {
      id: ownerId,
      organisationId,
      email: 'owner@localhost',
      firstName: 'Owner',
      role: 'owner',
      ...times,
    },
  });
  await db.workspace.create({
    data: { ...workspace, organisationId, name: 'Default', isDefault: true, ...times },
  });
  await insertUniversalLabels(db, organisationId, now);
  await insertDefaultCollection(db, { ...workspace, organisationId }, now);
  await db.workspaceMember.create({
    data: { workspaceId: workspace.id, userId: ownerId, role: 'admin', ...times },
  });
  const shared = { organisationId, createdByUserId: ownerId, creationMode: 'auto', now } as const;
  const admin = await insertMintedKey(db, parts.mintKey, {
    ...shared,
    type: 'organisation-service',
    name: 'First admin key',
    scopes: scopesOf('organisation-service'),
  });
  const service = await insertMintedKey(db, parts.mintKey, {
    ...shared,
    workspaceId: workspace.id,
    type: 'workspace-service',
    name: 'First workspace key',
    scopes: scopesOf('workspace-service'),
  });
  return {
    admin_key: admin.key,
    workspace_key: service.key,
    organisation_id: organisationId,
    workspace_id: workspace.id,
    workspace_slug: workspace.slug,
  };
}

/** The demo provider of the default workspace; its port may differ from one start to the next. */
async function ensureDemoProvider(
  organisationId: string,
  parts: BootstrapParts,
): Promise<string | null> {
  const url = parts.demoUpstreamUrl;
  if (url === undefined) return null;
  const now = parts.now();
  const workspace = await findDefaultWorkspace(parts.client, organisationId);
  if (workspace === null) return null;
  const existing = await findIntegration(parts.client, organisationId, demoSlug);
  const credentials = { key: null, configurations: { custom_host: url } };
  if (existing === null) {
    await commitChange(
      parts.client,
      entryOf(organisationId, 'create', now),
      async ({ db, touchWorkspace, describe }) => {
        const id = newId();
        const integration = await insertIntegration(db, {
          id,
          organisationId,
          workspaceId: workspace.id,
          slug: demoSlug,
          aiProviderId: 'demo',
          name: 'Demo upstream',
          description: 'A local server that speaks the vendors’ wire formats. It needs no key.',
          ...credentialColumns(parts.vault, id, credentials),
          createdAt: now,
          updatedAt: now,
        });
        await provisionProvider(db, integration, workspace.id, { slug: demoSlug, now });
        touchWorkspace(workspace.id);
        describe({ resourceId: id, workspaceId: workspace.id });
      },
    );
  } else if (openCredentials(parts.vault, existing).configurations.custom_host !== url) {
    await commitChange(
      parts.client,
      entryOf(organisationId, 'update', now),
      async ({ db, touchWorkspace, describe }) => {
        await updateIntegration(db, existing.id, {
          ...credentialColumns(parts.vault, existing.id, credentials),
          updatedAt: now,
        });
        for (const id of await workspacesUsing(db, existing.id)) touchWorkspace(id);
        describe({ resourceId: existing.id, workspaceId: existing.workspaceId ?? undefined });
      },
    );
  }
  return demoSlug;
}

/** These changes come from the command line, not from a request. */
function entryOf(organisationId: string, action: 'create' | 'update', timestamp: Date) {
  return systemEntry({
    organisationId,
    timestamp,
    method: action === 'create' ? 'POST' : 'PUT',
    uri: 'bootstrap',
    resourceType: 'integrations',
    action,
  });
}
