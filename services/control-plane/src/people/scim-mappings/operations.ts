import type { BodyOf } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import type { Change } from '../../kernel/database/change.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { isUuid, newId } from '../../kernel/names/ids.ts';
import { namedWorkspace, requireWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import { presentGroup, presentMapping } from './present.ts';
import {
  archiveMapping,
  findGroup,
  findMapping,
  type GroupRow,
  insertGroup,
  type MappingRow,
  mappingsOf,
  putMapping,
} from './store.ts';

/** Maps a group to a workspace. The same again is the same mapping; a group has one role wherever it is. */
export function createMapping(
  call: AdminRequest,
  body: BodyOf<'scim-workspaces.create'>,
): Promise<MappingRow> {
  return call.change(async (change) => {
    const { db, describe } = change;
    const workspace = await requireWorkspace(
      db,
      call.caller,
      namedWorkspace(call.body, call.query),
    );
    const group = await groupOf(call, change, body);
    const others = await mappingsOf(db, group.id);
    const role = others[0]?.role ?? body.role;
    if (role !== body.role)
      throw invalidField('body.role', `the group is mapped with the role ${role} already`);
    const mapping =
      others.find((other) => other.workspaceId === workspace.id) ??
      (await putMapping(db, {
        id: newId(),
        organisationId: workspace.organisationId,
        workspaceId: workspace.id,
        groupId: group.id,
        role,
        createdAt: call.now,
        updatedAt: call.now,
      }));
    describe({
      resourceId: mapping.id,
      workspaceId: workspace.id,
      after: presentMapping(mapping),
    });
    return mapping;
  });
}

/** Who became a member through the mapping stays one. */
export function deleteMapping(call: AdminRequest, id: string): Promise<void> {
  if (!isUuid(id)) throw invalidField('path.scimWorkspaceGroupId', 'must be a UUID');
  return call.change(async ({ db, describe }) => {
    const mapping = await findMapping(db, call.caller.organisationId, id.toLowerCase());
    if (mapping === null) throw new GatewayError('admin.not_found');
    await archiveMapping(db, mapping.id, call.now);
    describe({
      resourceId: mapping.id,
      workspaceId: mapping.workspaceId,
      before: presentMapping(mapping),
    });
  });
}

/** The group that is named by its id, or by a name that it gets now if there is none. */
async function groupOf(
  call: AdminRequest,
  change: Change,
  { scim_group_id: id, scim_group_name: name }: BodyOf<'scim-workspaces.create'>,
): Promise<GroupRow> {
  const { db } = change;
  const { organisationId } = call.caller;
  const group = await findGroup(db, organisationId, id == null ? { name: name ?? '' } : { id });
  if (group !== null) return group;
  if (id != null) throw invalidField('body.scim_group_id', 'is no group of this organisation');
  const created = await insertGroup(db, {
    id: newId(),
    organisationId,
    name: name ?? '',
    createdAt: call.now,
    updatedAt: call.now,
  });
  change.alsoRecord({
    resourceType: 'scim_groups',
    action: 'create',
    resourceId: created.id,
    after: presentGroup(created),
  });
  return created;
}
