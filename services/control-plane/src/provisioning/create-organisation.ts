import { scopesOf } from '@sluice/contracts';
import type { AuditResource, NewOrganisation } from '@sluice/contracts/admin';
import { insertDefaultCollection } from '../documents/collections/store.ts';
import { insertUniversalLabels } from '../documents/labels/store.ts';
import { chainStart } from '../kernel/audit/chain.ts';
import { systemEntry } from '../kernel/audit/system-entry.ts';
import { bytes, runChange } from '../kernel/database/change.ts';
import type { Database } from '../kernel/database/client.ts';
import { generateSlug } from '../kernel/names/generate-slug.ts';
import { newId } from '../kernel/names/ids.ts';
import { effectiveSettings, type StoredSettings } from '../kernel/tenancy/settings.ts';
import { insertMintedKey } from '../people/api-keys/insert-minted-key.ts';
import type { MintKey } from '../people/api-keys/secrets.ts';
import { insertUser } from '../people/users/store.ts';
import { putMember } from '../people/workspace-members/store.ts';
import { insertWorkspace } from '../people/workspaces/store.ts';

/** Shown once, to the operator who had the organisation made. */
export interface OrganisationKeys {
  admin_key: string;
  workspace_key: string;
  organisation_id: string;
  workspace_id: string;
  workspace_slug: string;
}

const firstOrganisation: NewOrganisation = {
  name: 'Default organisation',
  ownerEmail: 'owner@sluice.invalid',
};

/** How further organisations begin; the first one is there to try things, and takes any config. */
export const strictSettings: StoredSettings = {
  data_plane_security_settings: { block_inline_config: true },
};

export interface OrganisationParts {
  mintKey: MintKey;
  /** In place of `mintKey`, for the organisation's key and its workspace's: keys that the operator brings. */
  mintGiven?: { readonly admin?: MintKey | undefined; readonly workspace?: MintKey | undefined };
  now: () => Date;
}

/** An organisation with an owner, a default workspace, and a key of each service kind that may do everything. */
export async function createOrganisation(
  db: Database,
  parts: OrganisationParts,
  wanted: NewOrganisation = firstOrganisation,
  settings: StoredSettings = {},
): Promise<OrganisationKeys> {
  const now = parts.now();
  const id = newId();
  await db.organisation.create({
    data: {
      id,
      name: wanted.name,
      auditHash: bytes(chainStart),
      settings: { ...settings },
      blockInlineConfig:
        effectiveSettings(settings).data_plane_security_settings.block_inline_config,
      createdAt: now,
      updatedAt: now,
    },
  });
  const entry = commandLineEntry(id, 'organisation', 'create', now);
  return runChange(db, entry, async ({ describe, touchOrganisation }) => {
    touchOrganisation();
    describe({ resourceId: id, after: { id, ...wanted } });
    const ownerId = newId();
    await insertUser(db, {
      id: ownerId,
      organisationId: id,
      email: wanted.ownerEmail,
      firstName: 'Owner',
      role: 'owner',
      createdAt: now,
      updatedAt: now,
    });
    await insertUniversalLabels(db, id, now);
    const workspace = await createDefaultWorkspace(db, id, ownerId, now);
    const shared = {
      organisationId: id,
      createdByUserId: ownerId,
      creationMode: 'auto',
      now,
    } as const;
    const { admin: mintAdmin, workspace: mintWorkspace } = parts.mintGiven ?? {};
    const admin = await insertMintedKey(db, mintAdmin ?? parts.mintKey, {
      ...shared,
      type: 'organisation-service',
      name: 'First admin key',
      scopes: scopesOf('organisation-service'),
    });
    const service = await insertMintedKey(db, mintWorkspace ?? parts.mintKey, {
      ...shared,
      workspaceId: workspace.id,
      type: 'workspace-service',
      name: 'First workspace key',
      scopes: scopesOf('workspace-service'),
    });
    return {
      admin_key: admin.key,
      workspace_key: service.key,
      organisation_id: id,
      workspace_id: workspace.id,
      workspace_slug: workspace.slug,
    };
  });
}

async function createDefaultWorkspace(
  db: Database,
  organisationId: string,
  ownerId: string,
  now: Date,
): Promise<{ id: string; slug: string }> {
  const workspace = await insertWorkspace(db, {
    id: newId(),
    organisationId,
    slug: generateSlug('workspace', 'default'),
    name: 'Default',
    isDefault: true,
    createdAt: now,
    updatedAt: now,
  });
  await insertDefaultCollection(db, workspace, now);
  await putMember(db, { workspaceId: workspace.id, userId: ownerId, role: 'admin' }, now);
  return workspace;
}

/** The audit entry of a change that comes from the command line, not from a request. */
export function commandLineEntry(
  organisationId: string,
  resourceType: AuditResource,
  action: 'create' | 'update',
  timestamp: Date,
) {
  return systemEntry({
    organisationId,
    timestamp,
    method: action === 'create' ? 'POST' : 'PUT',
    uri: 'bootstrap',
    resourceType,
    action,
  });
}
