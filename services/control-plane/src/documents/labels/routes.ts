import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import {
  namedWorkspace,
  requireOwnOrganisation,
  targetWorkspace,
} from '../../kernel/tenancy/target-workspace.ts';
import { changeLabel, createLabel, deleteLabel, reachLabel } from './operations.ts';
import { presentLabel } from './present.ts';
import { listLabels } from './store.ts';

export const labelOperations = implementAll('labels', {
  list: async (call, { query }) => {
    requireOwnOrganisation(call.caller, query.organisation_id);
    const workspace = await targetWorkspace(
      call.db,
      call.caller,
      namedWorkspace(undefined, call.query),
    );
    const scope = { organisationId: call.caller.organisationId, workspaceId: workspace?.id };
    const { rows, total } = await listLabels(call.db, scope, query);
    return { total, data: rows.map(presentLabel) };
  },
  create: async (call, { body }) => ({ id: await createLabel(call, body) }),
  read: async (call, { query }) => {
    const label = await reachLabel(call, call.db, pathParameter(call, 'labelId'));
    requireOwnOrganisation(call.caller, query.organisation_id);
    return presentLabel(label);
  },
  update: (call, { body }) => changeLabel(call, pathParameter(call, 'labelId'), body),
  delete: (call) => deleteLabel(call, pathParameter(call, 'labelId')),
});
