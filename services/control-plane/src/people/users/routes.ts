import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import { listEnvelope } from '../../kernel/http/shapes.ts';
import { activeWorkspaceIds } from '../workspaces/store.ts';
import { changeUser, deleteUser, reachUser } from './operations.ts';
import { presentUser } from './present.ts';
import { listUsers } from './store.ts';

export const userOperations = implementAll('users', {
  list: async (call, { query }) => {
    const { organisationId } = call.caller;
    const [{ rows, total }, workspaces] = await Promise.all([
      listUsers(call.db, organisationId, query, query),
      activeWorkspaceIds(call.db, organisationId),
    ]);
    return listEnvelope(
      rows.map((row) => presentUser(row, workspaces)),
      total,
    );
  },
  read: async (call) => {
    const user = await reachUser(call, call.db, pathParameter(call, 'userId'));
    return presentUser(user, await activeWorkspaceIds(call.db, user.organisationId));
  },
  update: (call, { body }) => changeUser(call, pathParameter(call, 'userId'), body.role),
  delete: (call) => deleteUser(call, pathParameter(call, 'userId')),
});
