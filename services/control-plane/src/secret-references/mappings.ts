import type { Database } from '../database/client.ts';
import { invalidField } from '../http/parse-input.ts';
import { findSecretReference, isOpenTo } from './store.ts';

/**
 * Checks that what a resource is to take from secret managers can be had: every
 * mapping names an active reference of the organisation, open to the workspace
 * the resource belongs to. One of the organisation may name any of them.
 * @throws 400 at the first mapping that does not.
 */
export async function requireSecretReferences(
  db: Database,
  owner: { organisationId: string; workspaceId: string | null | undefined },
  mappings: readonly { secret_reference_id: string }[],
): Promise<void> {
  for (const [index, mapping] of mappings.entries()) {
    const row = await findSecretReference(db, owner.organisationId, mapping.secret_reference_id);
    const isUsable =
      row?.status === 'ACTIVE' &&
      (owner.workspaceId == null || (await isOpenTo(db, row, owner.workspaceId)));
    if (!isUsable)
      throw invalidField(
        `body.secret_mappings[${index}].secret_reference_id`,
        owner.workspaceId == null
          ? 'is no secret reference of this organisation'
          : 'is no secret reference that is open to this workspace',
      );
  }
}
