import { createHash } from 'node:crypto';
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import type { CredentialVault } from '../kernel/credentials/envelope.ts';
import type { Database } from '../kernel/database/client.ts';
import { isUuid } from '../kernel/names/ids.ts';
import { openJwtSettings } from '../people/auth-settings/settings.ts';
import { findAuthSettings } from '../people/auth-settings/store.ts';
import { listWorkspaceNames } from '../people/workspaces/store.ts';

/** What a gateway needs to validate tokens of an organisation; nothing when there is no such organisation. */
export async function getOrganisation(
  parts: { client: Database; vault: CredentialVault },
  request: { organisationId: string; knownHash: string },
): Promise<MessageInitShape<typeof config.GetOrganisationResponseSchema>> {
  const id = request.organisationId.toLowerCase();
  const row = isUuid(id) ? await findAuthSettings(parts.client, id) : null;
  if (row === null) return {};
  const settings = openJwtSettings(parts.vault, row);
  const workspaces = await listWorkspaceNames(parts.client, id);
  const organisation = create(config.OrganisationSchema, {
    id,
    jwtSettingsJson: settings === undefined ? '' : JSON.stringify(settings),
    workspaces: workspaces.map((workspace) => ({ id: workspace.id, slug: workspace.slug })),
    defaultWorkspaceId: workspaces.find(({ isDefault }) => isDefault)?.id ?? '',
  });
  organisation.hash = createHash('sha256')
    .update(toBinary(config.OrganisationSchema, organisation))
    .digest('hex');
  return organisation.hash === request.knownHash ? { unchanged: true } : { organisation };
}
