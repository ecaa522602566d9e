import type { BodyOf } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import type { Change } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { isUuid, newId } from '../../kernel/names/ids.ts';
import {
  namedWorkspace,
  requireOwnOrganisation,
  requireReach,
  requireWorkspace,
} from '../../kernel/tenancy/target-workspace.ts';
import { usersOfLabel } from '../configs/named-by.ts';
import { presentLabel } from './present.ts';
import {
  findLabel,
  findLabelByName,
  insertLabel,
  type LabelRow,
  type LabelScope,
  removeLabel,
  updateLabel,
} from './store.ts';

/** The label a path names. The universal ones are everybody's. */
export async function reachLabel(call: AdminRequest, db: Database, id: string): Promise<LabelRow> {
  if (!isUuid(id)) throw invalidField('path.labelId', 'must be a UUID');
  const label = await findLabel(db, call.caller.organisationId, id.toLowerCase());
  if (label === null) throw new GatewayError('admin.not_found');
  if (!label.isUniversal) requireReach(call.caller, label);
  return label;
}

export function createLabel(call: AdminRequest, body: BodyOf<'labels.create'>): Promise<string> {
  requireOwnOrganisation(call.caller, body.organisation_id);
  return call.change(async ({ db, describe }) => {
    const workspace = await requireWorkspace(
      db,
      call.caller,
      namedWorkspace(call.body, call.query),
    );
    const { organisationId } = workspace;
    await refuseTakenName(db, { organisationId, workspaceId: workspace.id }, body.name);
    const label = await insertLabel(db, {
      id: newId(),
      organisationId,
      workspaceId: workspace.id,
      name: body.name,
      description: body.description ?? '',
      colorCode: body.color_code ?? '',
      createdAt: call.now,
      updatedAt: call.now,
    });
    describe({ resourceId: label.id, workspaceId: workspace.id, after: presentLabel(label) });
    return label.id;
  });
}

/** With its name change the references to it: `prompt@name`. */
export function changeLabel(
  call: AdminRequest,
  id: string,
  body: BodyOf<'labels.update'>,
): Promise<void> {
  return changeOwn(call, id, async ({ db, describe }, label, workspaceId) => {
    const { organisationId } = label;
    if (body.name !== undefined && body.name !== label.name) {
      await refuseTakenName(db, { organisationId, workspaceId }, body.name);
      await warnOfUsers(call, db, { workspaceId, name: label.name });
    }
    const after = await updateLabel(db, label.id, {
      name: body.name,
      description: body.description === null ? '' : body.description,
      colorCode: body.color_code === null ? '' : body.color_code,
      updatedAt: call.now,
    });
    describe({
      resourceId: label.id,
      workspaceId,
      before: presentLabel(label),
      after: presentLabel(after),
    });
  });
}

export function deleteLabel(call: AdminRequest, id: string): Promise<void> {
  return changeOwn(call, id, async ({ db, describe }, label, workspaceId) => {
    await warnOfUsers(call, db, { workspaceId, name: label.name });
    await removeLabel(db, label.id);
    describe({ resourceId: label.id, workspaceId, before: presentLabel(label) });
  });
}

/** Who names prompts by it goes on without: the answer lists them. */
async function warnOfUsers(
  call: AdminRequest,
  db: Database,
  label: { workspaceId: string; name: string },
): Promise<void> {
  const users = await usersOfLabel(db, label);
  if (users.length > 0)
    call.notes.warnings.push(
      `Prompts are named by the label ${label.name} in ${users.join(', ')}, whose requests fail now.`,
    );
}

/** A change of a label that is a workspace's own. */
function changeOwn(
  call: AdminRequest,
  id: string,
  work: (change: Change, label: LabelRow, workspaceId: string) => Promise<void>,
): Promise<void> {
  return call.change(async (change) => {
    const label = await reachLabel(call, change.db, id);
    if (label.workspaceId === null)
      throw new GatewayError('admin.refused', {
        message: `The label "${label.name}" exists everywhere and stays as it is.`,
      });
    await work(change, label, label.workspaceId);
    change.touchWorkspace(label.workspaceId);
  });
}

/** A name is one label's in a workspace; the universal ones are in all of them. */
async function refuseTakenName(db: Database, scope: LabelScope, name: string): Promise<void> {
  if ((await findLabelByName(db, scope, name)) !== null)
    throw new GatewayError('admin.conflict', {
      field: 'body.name',
      message: `A label "${name}" exists already.`,
    });
}
