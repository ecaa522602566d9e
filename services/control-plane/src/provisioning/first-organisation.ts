import type { CredentialVault } from '../kernel/credentials/envelope.ts';
import { commitChange } from '../kernel/database/change.ts';
import type { DatabaseClient } from '../kernel/database/client.ts';
import { newId } from '../kernel/names/ids.ts';
import { findDefaultWorkspace } from '../kernel/tenancy/find-workspace.ts';
import { credentialColumns, openCredentials } from '../models/integrations/credentials.ts';
import {
  findIntegration,
  insertIntegration,
  updateIntegration,
  workspacesUsing,
} from '../models/integrations/store.ts';
import { provisionProvider } from '../models/providers/provision.ts';
import {
  commandLineEntry,
  createOrganisation,
  type OrganisationKeys,
  type OrganisationParts,
} from './create-organisation.ts';

export interface FirstKeys extends OrganisationKeys {
  demo_provider: string | null;
}

export interface BootstrapParts extends OrganisationParts {
  client: DatabaseClient;
  vault: CredentialVault;
  /** Address of the local demo upstream; without it there is no demo provider. */
  demoUpstreamUrl: string | undefined;
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
      commandLineEntry(organisationId, 'integrations', 'create', now),
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
      commandLineEntry(organisationId, 'integrations', 'update', now),
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
