import { implementAll } from '../../kernel/http/implement.ts';
import { listEnvelope } from '../../kernel/http/shapes.ts';
import { namedWorkspace, targetWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import type { CatalogueIds } from '../named-conditions.ts';
import { archivePolicy, changePolicy, createPolicy, reachPolicy } from './operations.ts';
import { object, presentRateLimitsPolicy } from './present.ts';
import { listPolicies } from './store.ts';

export const rateLimitsPolicyOperations = (ids: CatalogueIds) =>
  implementAll('rate-limits-policies', {
    create: async (call, input) => ({
      id: await createPolicy(call, input, ids),
      object,
    }),
    list: async (call, { query }) => {
      const { caller, db } = call;
      const workspace = await targetWorkspace(db, caller, namedWorkspace(undefined, call.query));
      const scope = { organisationId: caller.organisationId, workspaceId: workspace?.id };
      const { rows, total } = await listPolicies(db, scope, query);
      return listEnvelope(rows.map(presentRateLimitsPolicy), total);
    },
    read: async (call, { query }) =>
      presentRateLimitsPolicy(await reachPolicy(call, call.db, query.status)),
    update: (call, input) => changePolicy(call, input, ids),
    delete: (call) => archivePolicy(call),
  });
